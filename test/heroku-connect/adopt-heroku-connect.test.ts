import type { AdoptHerokuConnectData } from "bridge/api";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askingIn } from "../support/clients/ask.ts";
import { auditedIn } from "../support/clients/audit-page.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { AS_HEROKU_CONNECT, AS_THE_APPLICATION, herokuConnectSchema } from "../support/worlds/heroku-connect.ts";
import { createTestDatabase, type TestDatabase } from "../support/worlds/postgres.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";

let cloud: BridgeCloud;
let database: TestDatabase;
let application: Client;
beforeAll(async () => {
  cloud = await startBridgeCloud();
  database = await createTestDatabase();
  application = new Client({ connectionString: database.url, application_name: "heroku-connect" });
  await application.connect();
});
afterAll(async () => {
  await application.end();
  await database.close();
  await cloud.close();
});

const ask = (workspace: TestWorkspace, query: Record<string, string> = {}) =>
  askingIn(() => workspace)("adopt-heroku-connect", { query });
const look = async (workspace: TestWorkspace) =>
  dataOf<AdoptHerokuConnectData>(await ask(workspace, { dry_run: "true" }));
const adopted = async (workspace: TestWorkspace) => dataOf<AdoptHerokuConnectData>(await ask(workspace));

/** A schema with one table of Heroku Connect's, by its only column. */
const theirs = (schema: string, table: string, column: string) =>
  application.query(herokuConnectSchema([{ table, columns: { [column]: "varchar(80)" } }], schema));

test("the inspection shows what there is to adopt, what waits in it, and what speaks against it", async () => {
  const workspace = await createTestWorkspace({ postgres: { url: database.url, schema: "theirs" } });
  const columns = { lastname: "varchar(80)", amount__c: "double precision" };
  await application.query(herokuConnectSchema([{ table: "contact", columns }], "theirs"));
  await application.query(`${AS_HEROKU_CONNECT};
    INSERT INTO theirs.contact (sfid, lastname) VALUES ('003000000000001AAA', 'Curie');
    ${AS_THE_APPLICATION}`);
  await application.query("UPDATE theirs.contact SET lastname = 'C.'");
  await application.query(`INSERT INTO theirs.contact (lastname) VALUES ('New');
    UPDATE theirs._trigger_log SET state = 'PENDING' WHERE action = 'INSERT';
    INSERT INTO theirs._trigger_log_archive (id, state, action, table_name, processed_at)
    VALUES (90, 'SUCCESS', 'UPDATE', 'contact', now());
    CREATE VIEW public.waiting AS SELECT * FROM theirs._trigger_log`);

  const found = await look(workspace);

  expect(found).toMatchObject({
    state: "present",
    tables: [
      {
        table: "contact",
        triggers: ["hc_contact_logtrigger", "hc_contact_status_trigger"],
        changes: { new: 1, pending: 1, failed: 0 },
        kept_types: [
          { column: "amount__c", type: "double precision" },
          { column: "systemmodstamp", type: "timestamp without time zone" },
        ],
      },
    ],
  });
  expect(found.findings.filter(({ ok }) => !ok).map(({ check }) => check)).toEqual(["paused", "readers", "dependents"]);
  const { rows } = await application.query("SELECT to_regclass('theirs._bridge_meta') AS ours");
  expect(rows).toEqual([{ ours: null }]);
});

test("adopting moves the log aside once, is audited once, and can be asked for again", async () => {
  const workspace = await createTestWorkspace({ postgres: { url: database.url, schema: "moved" } });
  await theirs("moved", "lead", "lastname");

  const first = await adopted(workspace);
  await application.query("INSERT INTO moved.lead (lastname) VALUES ('Captured by theirs')");
  const second = await adopted(workspace);

  expect([first.state, second.state]).toEqual(["adopted", "adopted"]);
  expect(second.tables).toMatchObject([{ table: "lead", changes: { new: 1 } }]);
  const { entries } = await auditedIn(workspace.id, "connection.postgres_changed", 10);
  const detail = { adopted: "heroku_connect", schema: "moved", tables: ["lead"] };
  expect(entries.map((entry) => entry.detail)).toEqual([detail]);
});

test("a role that may not change what Heroku Connect has created gets the GRANT, and nothing is touched", async () => {
  const role = `bridge_${Date.now()}`;
  await theirs("foreign_one", "account", "name");
  await database.asSuperuser(`CREATE ROLE ${role} LOGIN PASSWORD 'p'; GRANT ALL ON SCHEMA foreign_one TO ${role};
    GRANT ALL ON ALL TABLES IN SCHEMA foreign_one TO ${role}`);
  const url = Object.assign(new URL(database.url), { username: role, password: "p" }).href;
  const workspace = await createTestWorkspace({ postgres: { url, schema: "foreign_one" } });

  const finding = (await look(workspace)).findings.find(({ check }) => check === "rights");
  const refused = await ask(workspace);
  await database.asSuperuser(`DROP OWNED BY ${role}; DROP ROLE ${role}`);

  expect(finding?.remedy).toMatch(new RegExp(`GRANT "\\w+" TO "${role}";`));
  expect(refused.json?.error?.code).toBe("CONFLICT");
  const { rows } = await application.query("SELECT to_regclass('foreign_one._hc_trigger_log') AS moved");
  expect(rows).toEqual([{ moved: null }]);
});

test("a plan with few connections is named with what Bridge takes of them, and adopted nevertheless", async () => {
  await theirs("small", "task", "subject");
  const role = `small_${Date.now()}`;
  const owner = new URL(database.url).username;
  await database.asSuperuser(`CREATE ROLE ${role} LOGIN PASSWORD 'p' CONNECTION LIMIT 15; GRANT ${owner} TO ${role}`);
  const url = Object.assign(new URL(database.url), { username: role, password: "p" }).href;
  const workspace = await createTestWorkspace({ postgres: { url, schema: "small" } });
  const fewer = await createTestWorkspace({ postgres: { url, schema: "small", maxConnections: 5 } });

  const [ten, five] = [await look(workspace), await look(fewer)].map(({ findings }) => findings.at(-1));
  const { state } = await adopted(workspace);
  await database.asSuperuser(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`);

  expect(ten).toMatchObject({ check: "connections", ok: false, message: "Bridge opens up to 10 of 15 connections" });
  expect(five).toMatchObject({ ok: true, message: "Bridge opens up to 5 of 15 connections" });
  expect(state).toBe("adopted");
});

test("a schema without anything of Heroku Connect's is left alone", async () => {
  const workspace = await createTestWorkspace({ postgres: { url: database.url, schema: "empty_one" } });

  expect(await look(workspace)).toMatchObject({ state: "absent", tables: [] });
  expect((await ask(workspace)).json?.error?.message).toContain("nothing of Heroku Connect's");
});
