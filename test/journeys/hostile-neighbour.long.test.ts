import { setInterval } from "node:timers/promises";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startTurningDatabase, startTurningOrg, type Turning } from "../support/doubles/turning-sides.ts";
import { type CommandLine, openCommandLine } from "../support/processes/command-line.ts";
import { RunningInstance } from "../support/processes/instance.ts";
import { createTestDatabase, type TestDatabase } from "../support/worlds/postgres.ts";

/** How long the neighbour does its worst. */
const MINUTES = Number(process.env["BRIDGE_HOSTILE_MINUTES"] ?? 5);

/** How long it takes without it, measured for this long before. */
const CALM_MILLISECONDS = 90_000;

/** A row that takes so long counts as one that never travels. */
const NEVER = { timeout: 300_000, interval: 100 };

const bridge = new RunningInstance();
let line: CommandLine;
let hostileDatabase: TestDatabase;
let database: Turning;
let org: Turning;
beforeAll(async () => {
  await bridge.start();
  line = openCommandLine({ BRIDGE_DATA_DIR: bridge.dataDir });
  hostileDatabase = await createTestDatabase();
  database = await startTurningDatabase(hostileDatabase.url);
  org = await startTurningOrg(bridge.file.salesforce.url);
});
afterAll(async () => {
  await bridge.destroy();
  line.close();
  await Promise.all([database.close(), org.close()]);
  await hostileDatabase.close();
});

test("rows of one tenant go both ways as fast as ever while another tenant's database and org do their worst", async () => {
  const tenants = await hostileTenants();
  const calm = await travelling(Date.now() + CALM_MILLISECONDS);

  database.turn();
  org.turn();
  await spoilDatabase();
  const asking = new AbortController();
  const asked = askFor(tenants, asking.signal);
  asked.catch(() => undefined); // it is awaited below, where the rows have not failed before
  const beside = await travelling(Date.now() + MINUTES * 60_000);
  asking.abort();
  await asked;

  console.log(JSON.stringify({ calm, beside, database: database.lies, org: org.lies }));
  expect(database.lies).toBeGreaterThan(20);
  expect(org.lies).toBeGreaterThan(20);
  for (const way of ["toSalesforce", "toPostgres"] as const) {
    expect(median(beside[way])).toBeLessThan(3 * median(calm[way]));
    expect(Math.max(...beside[way])).toBeLessThan(3 * Math.max(...calm[way]));
  }
  await nothingCrossed(tenants);
});

interface Tenant {
  readonly id: string;
  readonly token: string;
}

/** Three workspaces of one attacker: a lying database, a lying org, and a database of its own that is spoiled. */
async function hostileTenants(): Promise<readonly Tenant[]> {
  const { url: honest, client_id = "", client_secret = "", username, password } = bridge.file.salesforce;
  const sides = [
    { name: "liar", url: database.url, login: honest },
    { name: "spoiler", url: hostileDatabase.url, login: honest },
    { name: "actor", url: hostileDatabase.url, login: org.url },
  ];
  return Promise.all(
    sides.map(async ({ name, url, login }) => {
      const create = ["workspace", "create", name, "--owner", `${name}@example.com`];
      const made = await line.json<{ workspace_id: string; token: string }>(create);
      const tenant = { id: made.workspace_id, token: made.token };
      await of(tenant, "PUT", "/connections/postgres", { url, schema: name });
      const credentials = { kind: "password", client_id, client_secret, username, password };
      await of(tenant, "PUT", "/connections/salesforce", { login_url: login, credentials });
      await of(tenant, "POST", "/mappings", { sf_object: "Lead", fields: ["LastName", "Company"] });
      await vi.waitFor(async () => {
        const { body } = await of(tenant, "GET", "/monitoring/mappings");
        expect(body.data).toMatchObject([{ state: "running" }]);
      }, NEVER);
      return tenant;
    }),
  );
}

/** What the owner of a database can do to Bridge's own tables in it, and any role to what its statements call. */
async function spoilDatabase(): Promise<void> {
  // Every role's right in databases that began as PostgreSQL 14 or earlier.
  await hostileDatabase.asSuperuser(`GRANT CREATE ON SCHEMA public TO PUBLIC;
    CREATE FUNCTION public.shadow(name, name) RETURNS text LANGUAGE sql AS 'SELECT pg_sleep(5)::text';
    CREATE OPERATOR public.|| (FUNCTION = public.shadow, LEFTARG = name, RIGHTARG = name)`);
  const owner = new Client({ connectionString: hostileDatabase.url });
  await owner.connect();
  await owner.query(`
    UPDATE spoiler._bridge_state SET api_calls = '{"SOAP": null, "of the tenant''s choice": 7}';
    CREATE FUNCTION spoiler.keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
    CREATE TRIGGER keep BEFORE DELETE ON spoiler._bridge_outbox FOR EACH ROW EXECUTE FUNCTION spoiler.keep();
    INSERT INTO spoiler.lead (lastname, company) SELECT NULL, 'refused' FROM generate_series(1, 20)`);
  await owner.end();
}

/** The hostile tenants ask twice a second each for what makes Bridge look at their sides, until this is aborted. */
async function askFor(tenants: readonly Tenant[], signal: AbortSignal): Promise<void> {
  const paths = ["/health", "/monitoring/activity", "/monitoring/errors", "/monitoring/mappings", "/objects"];
  await Promise.all(
    tenants.map(async (tenant) => {
      let at = 0;
      try {
        for await (const _ of setInterval(500, undefined, { signal })) {
          if (at % 10 === 0) await of(tenant, "POST", "/nudge");
          else await of(tenant, "GET", paths[at % paths.length] ?? "");
          at += 1;
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }),
  );
}

/** How long rows took to become records, and records rows (milliseconds each), one after the other until then. */
async function travelling(until: number) {
  const [toSalesforce, toPostgres] = await Promise.all([
    repeated(until, async (name) => {
      await bridge.sql("INSERT INTO salesforce.contact (lastname) VALUES ($1)", [name]);
      return "SELECT FROM salesforce.contact WHERE lastname = $1 AND sfid <> ''";
    }),
    repeated(until, async (name) => {
      await bridge.org("POST", "/sobjects/Account", { Name: name });
      return "SELECT FROM salesforce.account WHERE name = $1";
    }),
  ]);
  return { toSalesforce, toPostgres };
}

let made = 0;

/** Writes one after the other, each when the one before is found by the query that writing it gave. */
async function repeated(until: number, write: (name: string) => Promise<string>): Promise<number[]> {
  const times: number[] = [];
  while (Date.now() < until) {
    const [began, name] = [Date.now(), `Honest ${++made}`];
    const arrived = await write(name);
    await vi.waitFor(async () => expect(await bridge.sql(arrived, [name])).toHaveLength(1), NEVER);
    times.push(Date.now() - began);
  }
  return times;
}

/** The honest tenant has its own rows alone, none failed, and the page of metrics has no label that a tenant has chosen. */
async function nothingCrossed(tenants: readonly Tenant[]): Promise<void> {
  const [foreign] = await bridge.sql<{ count: number }>(
    "SELECT count(*)::int FROM salesforce.contact WHERE lastname NOT LIKE 'Honest %'",
  );
  expect(foreign).toEqual({ count: 0 });
  expect((await bridge.api("GET", "/monitoring/errors")).body.data).toEqual([]);
  expect((await bridge.api("GET", "/health")).body.data).toMatchObject({ sync: { status: "running" } });
  const metrics = await fetch(`${bridge.file.base_url}/api/metrics`);
  const text = await metrics.text();
  expect(metrics.status).toBe(200);
  expect(text).toContain(`workspace_id="${bridge.file.workspace_id}"`);
  expect(text).not.toContain("of the tenant");
  for (const { token } of tenants)
    expect((await of({ id: bridge.file.workspace_id ?? "", token }, "GET", "/mappings")).status).toBe(403);
}

async function of({ id, token }: Tenant, method: string, path: string, body?: object) {
  const answer = await fetch(`${bridge.file.base_url}/api/v1/t/${id}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as { readonly data?: unknown } };
}

const median = (values: readonly number[]) =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
