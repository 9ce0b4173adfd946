import type { PartName } from "./parts.ts";
import type { Attacked } from "./world.ts";

interface Hole {
  readonly part: PartName;
  /** What is wrong while it is there. */
  readonly hole: string;
  /** Makes it, and gives what is another in the attacked world for it. */
  readonly open: (world: Attacked) => Partial<Attacked> | Promise<Partial<Attacked>>;
  readonly close?: (world: Attacked) => Promise<unknown>;
}

/** Every part must find the hole that is planted for it, or its "0 findings" says nothing. */
export const HOLES: readonly Hole[] = [
  {
    part: "roles",
    hole: "every role may read what was captured",
    open: async ({ sql }) => {
      await sql("GRANT SELECT ON salesforce._trigger_log TO PUBLIC");
      return {};
    },
    close: ({ sql }) => sql("REVOKE SELECT ON salesforce._trigger_log FROM PUBLIC"),
  },
  {
    part: "shadows",
    hole: "a statement that runs with our rights compares without a cast",
    open: async ({ sql }) => {
      // Planned at each call: a plan from before the shadows would be kept.
      await sql(`CREATE FUNCTION salesforce.careless() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          EXECUTE 'SELECT $1::varchar = ''x''' USING NEW.lastname; RETURN NEW; END $$;
        CREATE TRIGGER careless BEFORE UPDATE ON salesforce.contact FOR EACH ROW EXECUTE FUNCTION salesforce.careless();
        ALTER TABLE salesforce.contact ENABLE ALWAYS TRIGGER careless`);
      return {};
    },
    close: ({ sql }) => sql("DROP FUNCTION salesforce.careless CASCADE"),
  },
  {
    part: "loops",
    hole: "a write is tried a thousand times",
    open: ({ sql }) => ({
      sql: async (text, values) => {
        if (text.startsWith("SELECT last_value"))
          await sql("SELECT count(nextval('public.undone')) FROM generate_series(1, 1000)");
        return await sql(text, values);
      },
    }),
  },
  {
    part: "redirects",
    hole: "the client of orgs follows redirects",
    open: ({ doors }) => ({ doors: { ...doors, askOrg: async (url) => (await fetch(url)).text() } }),
  },
  {
    part: "matrix",
    hole: "a token may more than its scopes allow",
    open: ({ bridge }) => ({
      bridge: {
        ...bridge,
        createWorkspace: async (name) => {
          const workspace = await bridge.createWorkspace(name);
          return { ...workspace, tokenWith: (_, until) => workspace.tokenWith(["admin"], until) };
        },
      },
    }),
  },
  {
    part: "addresses",
    hole: "an attempt is sent without its addresses being judged",
    open: ({ doors }) => ({
      doors: {
        ...doors,
        post: (url, policy) => doors.post(url, { ...policy, loopback: true, opened: ["10.0.0.0/8"] }),
      },
    }),
  },
  {
    part: "receivers",
    hole: "an answer is read to its end",
    open: ({ doors }) => ({
      doors: {
        ...doors,
        post: async (url) => {
          const body = await (await fetch(url, { method: "POST", body: "{}" })).text();
          return { code: 200, body, truncated: false, problem: null, durationMs: 0 };
        },
      },
    }),
  },
  {
    part: "names",
    hole: "an object's name becomes SQL",
    open: ({ doors, sql }) => ({
      doors: {
        ...doors,
        ask: async (method, path, request) => {
          const [mapping] = (request.body as { mappings: { object_name: string }[] } | undefined)?.mappings ?? [];
          await sql(`SET LOCAL search_path = salesforce; SELECT FROM "${mapping?.object_name}"`).catch(() => undefined);
          return doors.ask(method, path, request);
        },
      },
    }),
  },
  {
    part: "rows",
    hole: "a good row fails with the hostile ones beside it",
    open: async ({ sql }) => {
      await sql(`CREATE FUNCTION public.spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF NEW.lastname = 'A good one' THEN NEW._ab_lastop := 'FAILED'; END IF; RETURN NEW; END $$;
        CREATE TRIGGER spoil BEFORE UPDATE ON salesforce.contact FOR EACH ROW EXECUTE FUNCTION public.spoil();
        ALTER TABLE salesforce.contact ENABLE ALWAYS TRIGGER spoil`);
      return {};
    },
    close: ({ sql }) => sql("DROP FUNCTION public.spoil CASCADE"),
  },
  {
    part: "terminal",
    hole: "what is written is not escaped",
    open: ({ doors }) => ({
      doors: {
        ...doors,
        show: (text) => text.replace(/\\u([0-9a-f]{4})/g, (_, code) => String.fromCharCode(parseInt(code, 16))),
      },
    }),
  },
  {
    part: "fuzz",
    hole: "an error shows where in the code it was thrown",
    open: async ({ sql, size }) => {
      await sql("INSERT INTO salesforce.contact (email) VALUES ('none')");
      // No cycle would: the part before may have left a restored database, which sends nothing.
      await sql(
        `UPDATE salesforce._trigger_log SET state = 'FAILED', processed_at = now(), last_operation = 'FAILED', sf_message = $1
         WHERE id = (SELECT max(id) FROM salesforce._trigger_log)`,
        [new Error("here").stack],
      );
      // Requests of one endpoint alone, so many that one of them is let through to its rows.
      return { size: { ...size, requests: 200, paths: /\/monitoring\/errors$/ } };
    },
    close: ({ sql }) => sql("UPDATE salesforce._trigger_log SET sf_message = 'dismissed' WHERE state = 'FAILED'"),
  },
  {
    part: "poison",
    hole: "the metrics fail where a tenant's database counts nonsense",
    open: ({ doors, sql }) => ({
      doors: {
        ...doors,
        ask: async (method, path, request) => {
          const wrong = "SELECT FROM salesforce._bridge_state WHERE api_calls ->> 'SOAP' IS NULL AND api_calls <> '{}'";
          const isMet = path === "/api/metrics" && (await sql(wrong)).length > 0;
          return isMet
            ? doors.ask("GET", "/", {}).then((answer) => ({ ...answer, status: 500 }))
            : doors.ask(method, path, request);
        },
      },
    }),
  },
  {
    part: "database",
    hole: "the driver reads what a server sends, unchecked",
    open: ({ doors }) => ({ doors: { ...doors, database: "driver" } }),
  },
  {
    part: "org",
    hole: "an answer of an org is read to its end",
    open: ({ doors }) => ({
      doors: {
        ...doors,
        readOrg: (url) => ({
          ...doors.readOrg(url),
          query: async () => JSON.parse(await (await fetch(url, { signal: AbortSignal.timeout(1_000) })).text()),
        }),
      },
    }),
  },
];
