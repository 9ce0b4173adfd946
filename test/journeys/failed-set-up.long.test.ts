import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { type CommandLine, openCommandLine } from "../support/processes/command-line.ts";
import { herokuConnectSchema } from "../support/worlds/heroku-connect.ts";
import { type RunningBridge, startRunningBridge } from "../support/worlds/running-bridge.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";

/** Far more than it takes, so that a busy machine fails nothing. */
const SOON = { timeout: 300_000, interval: 250 };

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const role = `service_${randomUUID().slice(0, 8)}`;
let bridge: RunningBridge;
let admin: Client;
beforeAll(async () => {
  bridge = await startRunningBridge();
  admin = new Client({ connectionString: bridge.database.superuserUrl });
  await admin.connect();
  await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'test'`);
});
afterAll(async () => {
  await admin.query(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`);
  await admin.end();
  await bridge.close();
});

/** A workspace whose database knows us as an ordinary role, and a user at a command line. */
async function openWorkspace(schema: string): Promise<{ workspace: TestWorkspace; line: CommandLine }> {
  const url = new URL(bridge.database.url);
  Object.assign(url, { username: role, password: "test" });
  const workspace = await createTestWorkspace({
    salesforce: bridge.org.connection,
    postgres: { url: url.href, schema },
  });
  const line = openCommandLine();
  onTestFinished(() => line.close());
  await line.run(["login", bridge.baseUrl, "--workspace", workspace.id], { stdin: `${workspace.token}\n` });
  return { workspace, line };
}

test("a table that cannot be created says why wherever a user looks, and is created once that is corrected", async () => {
  const { workspace, line } = await openWorkspace("forbidden");
  const database = new URL(bridge.database.url).pathname.slice(1);
  const why = `permission denied for database ${database}`;

  expect((await line.run(["mapping", "create", "Contact", "--fields", "LastName"])).code).toBe(0);
  const shown = await line.run(["mapping", "show", "Contact", "--wait"]);

  expect(shown).toMatchObject({ code: 10, stdout: expect.stringContaining(why) });
  expect(shown.stdout).toContain("Bridge tries again every minute");
  const [state] = await line.json<{ id: string; state: string; reason: string }[]>(["mapping", "list"]);
  expect(state).toMatchObject({ state: "provisioning_failed", reason: expect.stringContaining(why) });
  const doctor = await line.run(["doctor"]);
  expect(doctor.code).toBe(10);
  expect(doctor.stdout).toMatch(new RegExp(`Contact is provisioning_failed: .*${why}`, "s"));
  const path = `/api/v1/t/${workspace.id}/mappings/${state?.id}`;
  const { token } = workspace;
  const poll = await bridge.request("POST", `${path}/poll-now`, { token });
  expect(poll.json?.data).toMatchObject({ triggered: false, message: expect.stringContaining(why) });

  await admin.query(`GRANT CREATE ON DATABASE ${database} TO ${role}`);
  const saved = await bridge.request("PATCH", path, { token, body: { fields: ["LastName"] } });
  expect(saved.json?.data).toMatchObject({ state: "provisioning", reason: null });
  await vi.waitFor(async () => {
    const read = await bridge.request("GET", path, { token });
    expect(read.json?.data).toMatchObject({ state: "running", reason: null });
  }, SOON);
});

test("a takeover from Heroku Connect that fails ends its command with the reason, and the command completes it later", async () => {
  const { line } = await openWorkspace("theirs");
  const database = new URL(bridge.database.url).pathname.slice(1);
  await admin.query("CREATE EXTENSION IF NOT EXISTS hstore SCHEMA public");
  await admin.query(`GRANT CREATE ON DATABASE ${database} TO ${role}; GRANT CREATE ON SCHEMA public TO ${role}`);
  await admin.query(`SET ROLE ${role}`);
  await admin.query(herokuConnectSchema([{ table: "contact", columns: { lastname: "varchar(80)" } }], "theirs"));
  await admin.query("INSERT INTO theirs.contact (lastname) VALUES ('Waiting')");
  await admin.query("RESET ROLE");
  await admin.query(`
    CREATE FUNCTION public.refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
      IF EXISTS (SELECT FROM pg_event_trigger_dropped_objects() WHERE object_identity ~ '^hc_contact') THEN
        RAISE 'ask the administrator';
      END IF;
    END $$;
    CREATE EVENT TRIGGER refuse ON sql_drop EXECUTE FUNCTION public.refuse()`);
  const file = line.file("export.json", JSON.stringify(EXPORT));

  const refused = await line.run(["migrate", "heroku-connect", file, "--yes"]);

  expect(refused).toMatchObject({
    code: 10,
    stderr: expect.stringContaining("Contact is not adopted: PostgreSQL refused (SQLSTATE P0001)"),
  });
  const captured = "SELECT state FROM theirs._hc_trigger_log";
  expect((await admin.query(captured)).rows, "what waits is still theirs").toEqual([{ state: "NEW" }]);

  await admin.query("DROP EVENT TRIGGER refuse");
  const moved = await line.run(["migrate", "heroku-connect", file, "--yes"]);
  expect(moved).toMatchObject({ code: 0, stderr: expect.stringContaining("Keep Heroku Connect paused") });
  await vi.waitFor(async () => {
    const { rows } = await admin.query("SELECT state FROM theirs._trigger_log");
    expect(rows).toEqual([{ state: "SUCCESS" }]);
  }, SOON);
});

const EXPORT = {
  version: 1,
  connection: { app_name: "acme", organization_id: "00D000000000000" },
  mappings: [
    {
      object_name: "Contact",
      config: {
        access: "read_write",
        sf_notify_enabled: false,
        sf_polling_seconds: 600,
        fields: { Id: {}, SystemModstamp: {}, IsDeleted: {}, LastName: {} },
      },
    },
  ],
};
