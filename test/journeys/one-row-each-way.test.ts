import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { RunningInstance } from "../support/processes/instance.ts";
import { watchSockets } from "../support/processes/watched-sockets.ts";

/** Far more than the one beat that it takes, so that a busy machine fails nothing; `npm run bench:sync` measures the time. */
const SOON = { timeout: 300_000, interval: 100 };

vi.setConfig({ testTimeout: 300_000 });

const sockets = watchSockets();
const bridge = new RunningInstance({ environment: sockets.environment });
beforeAll(() => bridge.start());
afterAll(() => bridge.destroy());

// Each has rows and records of its own, and waits for beats of ten seconds: they wait together. A second change asks for
// its cycle.
test.concurrent("a row inserted in PostgreSQL is a record in Salesforce", async () => {
  const id = await insertContact("Lovelace", "ada@example.com");

  const row = await vi.waitFor(async () => {
    const found = await contact(id);
    expect(found._ab_lastop).toBe("INSERTED");
    return found;
  }, SOON);

  expect(row.sfid).toMatch(/^003[A-Za-z0-9]{15}$/);
  expect(await bridge.soql(`SELECT LastName, Email FROM Contact WHERE Id = '${row.sfid}'`)).toMatchObject([
    { LastName: "Lovelace", Email: "ada@example.com" },
  ]);
  expect(await activity("contact", row.sfid)).toMatchObject([
    { action: "INSERT", state: "SUCCESS", _ab_lastop: "INSERTED" },
  ]);
});

test.concurrent("a record made in Salesforce is a row soon, and no activity", async () => {
  const sfid = await createContact({ LastName: "Hopper", FirstName: "Grace" });

  const row = await vi.waitFor(() => contactOf(sfid), SOON);

  expect(row).toMatchObject({ lastname: "Hopper", firstname: "Grace", _ab_lastop: "SYNCED" });
  expect(await activity("contact", sfid)).toEqual([]);
});

test.concurrent("an update of a row reaches the record, an update of the record reaches the row, without an echo", async () => {
  const sfid = await createContact({ LastName: "Turing", Title: "Dr" });
  const { id } = await vi.waitFor(() => contactOf(sfid), SOON);

  await bridge.sql("UPDATE salesforce.contact SET title = 'Professor', phone = '+44 1' WHERE id = $1", [id]);
  await withPolls(async () => expect(await record(sfid)).toMatchObject({ Title: "Professor", Phone: "+44 1" }));
  await bridge.org("PATCH", `/sobjects/Contact/${sfid}`, { Title: "Fellow" });
  await withPolls(async () => expect((await contact(id))["title"]).toBe("Fellow"));

  expect(await activity("contact", sfid)).toMatchObject([{ action: "UPDATE", state: "SUCCESS" }]);
});

test.concurrent("a row deleted in PostgreSQL is deleted in Salesforce, and a record deleted in Salesforce in PostgreSQL", async () => {
  const [first, second] = [await createContact({ LastName: "First" }), await createContact({ LastName: "Second" })];
  await vi.waitFor(() => Promise.all([contactOf(first), contactOf(second)]), SOON);

  await bridge.sql("DELETE FROM salesforce.contact WHERE sfid = $1", [first]);
  await bridge.org("DELETE", `/sobjects/Contact/${second}`);

  await withPolls(async () => expect(await bridge.soql(`SELECT Id FROM Contact WHERE Id = '${first}'`)).toEqual([]));
  await withPolls(async () => {
    expect(await bridge.sql("SELECT id FROM salesforce.contact WHERE sfid = ANY($1)", [[first, second]])).toEqual([]);
  });
  expect(await activity("contact", first)).toMatchObject([
    { action: "DELETE", state: "SUCCESS", _ab_lastop: "DELETED" },
  ]);
});

test.concurrent("a row that Salesforce refuses ends FAILED with what Salesforce said, and appears in errors", async () => {
  const id = await insertContact("Refused", "not an address");

  const row = await vi.waitFor(async () => {
    const found = await contact(id);
    expect(found._ab_lastop).toBe("FAILED");
    return found;
  }, SOON);

  expect(row).toMatchObject({
    sfid: null,
    _ab_err: expect.stringMatching(/^INVALID_EMAIL_ADDRESS: .*not an address.*\[Email\]$/),
  });
  expect(await bridge.api("GET", "/monitoring/errors?table=contact")).toMatchObject({
    status: 200,
    body: {
      data: [{ table_name: "contact", sfid: null, action: "INSERT", state: "FAILED", _ab_err: row._ab_err }],
    },
  });
});

test("everything of Bridge's in the database is an ordinary role's, as a customer's would be", async () => {
  const rows = await bridge.sql(`SELECT DISTINCT rolname, rolsuper, rolbypassrls, rolcreaterole FROM pg_class c
    JOIN pg_roles r ON r.oid = c.relowner WHERE relnamespace = 'salesforce'::regnamespace`);

  expect(rows).toEqual([{ rolname: "bridge", rolsuper: false, rolbypassrls: false, rolcreaterole: false }]);
});

test("another user of the machine can read no file that opens it, nor order faults in its org", async () => {
  const { url, access_token } = bridge.file.salesforce;
  const ask = (headers: Record<string, string>) => fetch(`${url}/_sim/requests`, { headers });

  const open = ["", "cloud", "org"].flatMap((folder) =>
    readdirSync(join(bridge.dataDir, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile() && (statSync(join(entry.parentPath, entry.name)).mode & 0o077) !== 0)
      .map(({ name }) => name),
  );

  expect(new Set(open)).toEqual(new Set(["format", "owner.lock"]));
  expect((await ask({})).status).toBe(401);
  expect((await ask({ Authorization: `Bearer ${access_token}` })).status).toBe(200);
});

test("nothing of all this left the machine, the console's pages included", async () => {
  const page = await (await fetch(`${bridge.file.base_url}/`)).text();
  const files = [...page.matchAll(/(?:src|href)="(?:\.\/|\/)?(assets\/[^"]+)"/g)].map(([, file]) => file);
  for (const file of files) expect((await fetch(`${bridge.file.base_url}/${file}`)).status).toBe(200);

  expect(files.length).toBeGreaterThan(0);
  expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  expect(sockets.hosts()).toContain("127.0.0.1");
  expect(sockets.hosts().filter((host) => !["127.0.0.1", "localhost", "::1"].includes(host))).toEqual([]);
});

test("a call to the outside would have been seen, by name or by address", async () => {
  const { environment, hosts } = watchSockets();
  const call = `await fetch("http://192.0.2.1/", { signal: AbortSignal.timeout(50) }).catch(() => {});
    const resolver = new (await import("node:dns/promises")).Resolver({ timeout: 50, tries: 1 });
    resolver.setServers(["127.0.0.1:9"]);
    await resolver.resolve4("name.example").catch(() => {});`;
  const env = { ...process.env, ...environment };

  await promisify(execFile)(process.execPath, ["--input-type=module", "-e", call], { env });

  expect(hosts()).toEqual(["192.0.2.1", "name.example"]);
});

/** Asks for cycles of Contact until this holds. */
async function withPolls(holds: () => Promise<void>): Promise<void> {
  const mappings = (await bridge.api("GET", "/mappings")).body.data as { id: string; sf_object: string }[];
  const id = mappings.find(({ sf_object }) => sf_object === "Contact")?.id;
  await vi.waitFor(
    async () => {
      await bridge.api("POST", `/mappings/${id}/poll-now`);
      await holds();
    },
    { timeout: 300_000, interval: 1000 },
  );
}

interface ContactRow {
  readonly id: number;
  readonly sfid: string | null;
  readonly _ab_lastop: string | null;
  readonly _ab_err: string | null;
  readonly [column: string]: unknown;
}

async function insertContact(lastName: string, email: string): Promise<number> {
  const [row] = await bridge.sql<{ id: number }>(
    "INSERT INTO salesforce.contact (lastname, email) VALUES ($1, $2) RETURNING id::int",
    [lastName, email],
  );
  return row?.id ?? 0;
}

async function contactWhere(column: "id" | "sfid", value: unknown): Promise<ContactRow> {
  const [row] = await bridge.sql<ContactRow>(`SELECT * FROM salesforce.contact WHERE ${column} = $1`, [value]);
  if (!row) throw new Error(`no contact whose ${column} is ${value}`);
  return row;
}
const contact = (id: number) => contactWhere("id", id);
const contactOf = (sfid: string) => contactWhere("sfid", sfid);

async function createContact(fields: Record<string, string>): Promise<string> {
  return ((await bridge.org("POST", "/sobjects/Contact", fields)) as { id: string }).id;
}

async function record(sfid: string): Promise<Record<string, unknown> | undefined> {
  return (await bridge.soql(`SELECT Title, Phone FROM Contact WHERE Id = '${sfid}'`))[0];
}

async function activity(table: string, sfid: string | null): Promise<unknown[]> {
  const { status, body } = await bridge.api("GET", `/monitoring/activity?table=${table}&limit=200`);
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
  return (body.data as { sfid: string | null }[]).filter((row) => row.sfid === sfid);
}
