import { type AddressInfo, createServer } from "node:net";
import { Client } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { database, figures, now, vault } from "../../functions/services/composition.ts";
import { removeWorkspace } from "../../lib/access/remove-workspace.ts";
import { workspaceKey } from "../../lib/adapters/dynamodb/access/workspace-key.ts";
import { workspaceRemoval } from "../../lib/adapters/dynamodb/access/workspace-removal.ts";
import { readItem } from "../../lib/adapters/dynamodb/client/read-item.ts";
import { figuresKey } from "../../lib/adapters/dynamodb/engine/kept-figures.ts";
import { customerSchema } from "../../lib/adapters/postgres/schema/clear-schema.ts";
import { schedulesIn } from "../../lib/adapters/scheduler/schedules.ts";
import { auditPage } from "../support/clients/audit-page.ts";
import { type RunningBridge, startRunningBridge } from "../support/worlds/running-bridge.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";
import { operator } from "./operator.ts";

/** Far more than it takes, so that a busy machine fails nothing. */
const SOON = { timeout: 300_000, interval: 250 };

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let bridge: RunningBridge;
let customer: Client;
beforeAll(async () => {
  bridge = await startRunningBridge();
  customer = new Client({ connectionString: bridge.database.url });
  await customer.connect();
});
afterAll(async () => {
  await customer.end();
  await bridge.close();
});

test("a workspace goes with all that Bridge put into its database, and the customer's own stays", async () => {
  const { workspace, mappingId } = await syncedWorkspace("leaving");
  await customer.query(`
    CREATE FUNCTION leaving.mine() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
    CREATE TRIGGER mine BEFORE INSERT ON leaving.contact FOR EACH ROW EXECUTE FUNCTION leaving.mine();
    INSERT INTO leaving.contact (lastname) VALUES ('Kept')`);
  expect(await scheduled()).toContain(mappingId);
  await figures().set(workspace.id, { mappings: [], webhooks: [] });
  const seen = () => readItem(database(), "engine", { pk: figuresKey(workspace.id), sk: "seen" });
  expect(await seen()).toBeDefined();

  const { cleared } = await operator().json<{ cleared: { tables: string[] } }>([
    ...["workspace", "delete", workspace.id, "--yes", "--by", "ada@example.com"],
  ]);
  await customer.query("INSERT INTO leaving.contact (lastname) VALUES ('After')");

  expect(cleared.tables).toContain("_trigger_log");
  expect(await left("leaving")).toEqual({
    triggers: ["mine"],
    functions: ["get_xmlbinary", "mine"],
    tables: ["contact"],
  });
  const { rows } = await customer.query(
    "SELECT lastname, _ab_lastop FROM leaving.contact WHERE lastname <> 'Synced' ORDER BY 1",
  );
  expect(rows.map(({ lastname }) => lastname)).toEqual(["After", "Kept"]);
  expect(rows[0]?._ab_lastop).toBeNull();
  expect(await scheduled()).not.toContain(mappingId);
  const refused = await bridge.request("GET", `/api/v1/t/${workspace.id}/mappings`, { token: workspace.token });
  expect(refused.status).toBe(401);
  expect((await bridge.request("GET", "/api/metrics")).text).not.toContain(workspace.id);
  expect(await seen()).toBeUndefined();
  expect(await audited(workspace.id)).toMatchObject({
    actor: "ada@example.com",
    resourceId: workspace.id,
    detail: { name: "Test", mappings: 1, webhooks: 0, tokens: 1 },
  });
});

test("a removal that breaks off at any point is ended by the same command", async () => {
  const { workspace, mappingId } = await syncedWorkspace("broken_off");

  let effects = 0;
  for (let dieAt = 1; ; dieAt += 1) {
    const outcome = await removeWorkspace(dying(dieAt), {
      workspaceId: workspace.id,
      actor: "system",
      at: now(),
      leaveDatabase: false,
    }).catch((error: Error) => error);
    if (!(outcome instanceof Error)) break;
    expect(outcome.message).toBe("power cut");
    const asked = await bridge.request("GET", `/api/v1/t/${workspace.id}/mappings`, { token: workspace.token });
    expect([401, 404], "from the first step on").toContain(asked.status);
    effects = dieAt;
  }

  expect(effects).toBe(4);
  expect(await left("broken_off")).toEqual({ triggers: [], functions: ["get_xmlbinary"], tables: ["contact"] });
  expect(await scheduled()).not.toContain(mappingId);
  expect((await removal().find(workspace.id))?.isGone).toBe(true);
  const kept = await readItem(database(), "workspaces", workspaceKey(workspace.id));
  expect(
    Object.keys(kept ?? {}).filter((name) => /postgres|salesforce/.test(name)),
    "its credentials",
  ).toEqual([]);
  expect(await removal().count(workspace.id)).toEqual({ mappings: 0, webhooks: 0, tokens: 0 });
  expect(await audited(workspace.id)).toMatchObject({ actor: "system" });
});

test("nothing goes before its name was typed", async () => {
  const workspace = await bridge.createWorkspace("asked");
  const line = operator();

  const unseen = await line.run(["workspace", "delete", workspace.id]);
  const unknown = await line.run(["workspace", "delete", "ws_nobody", "--yes"]);

  expect(unseen.code).toBe(2);
  expect(unseen.stderr).toContain("type the workspace's name");
  expect(unknown).toMatchObject({ code: 5, stderr: expect.stringContaining("no workspace ws_nobody") });
  expect((await removal().find(workspace.id))?.deletedAt).toBeNull();
});

test("a database that is out of reach is said so, and can be left as it is", async () => {
  const postgres = { url: "postgres://nobody:at@127.0.0.1:9/home", schema: "salesforce" };
  const workspace = await createTestWorkspace({ postgres });
  const line = operator();

  const refused = await line.run(["workspace", "delete", workspace.id, "--yes"]);
  const done = await line.run(["workspace", "delete", workspace.id, "--yes", "--leave-database"]);
  const again = await line.run(["workspace", "delete", workspace.id, "--yes"]);

  expect(refused).toMatchObject({ code: 9, stderr: expect.stringContaining("--leave-database") });
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining("left as it is") });
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining("gone already") });
});

test.each([
  ["hangs up", closedDatabase, "the connection to PostgreSQL was lost"],
  ["lies in a private network", async () => "postgres://nobody:at@10.0.0.1/home", "OPENED_RANGES"],
])("a database that %s is out of reach, too", async (_, urlOf, reason) => {
  const workspace = await createTestWorkspace({ postgres: { url: await urlOf(), schema: "salesforce" } });

  const refused = await operator().run(["workspace", "delete", workspace.id, "--yes"]);

  expect(refused).toMatchObject({ code: 9, stderr: expect.stringMatching(`${reason}[^]*--leave-database`) });
});

/** Takes connections and ends them. */
async function closedDatabase(): Promise<string> {
  const server = createServer((socket) => socket.end());
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `postgres://nobody:at@127.0.0.1:${(server.address() as AddressInfo).port}/home`;
}

test("a schema that another workspace has taken over stays as it is", async () => {
  const { workspace: first } = await syncedWorkspace("shared_schema");
  await customer.query("UPDATE shared_schema._bridge_meta SET workspace_id = 'ws_another'");

  await operator().json(["workspace", "delete", first.id, "--yes"]);

  expect((await left("shared_schema")).tables).toContain("_trigger_log");
});

test("what the customer has built on the log is named before anything is lost of it", async () => {
  const { workspace } = await syncedWorkspace("depended_on");
  await customer.query("CREATE VIEW depended_on.my_report AS SELECT state FROM depended_on._trigger_log");
  const line = operator();

  const refused = await line.run(["workspace", "delete", workspace.id, "--yes"]);
  await customer.query("DROP VIEW depended_on.my_report");
  const done = await line.run(["workspace", "delete", workspace.id, "--yes"]);

  expect(refused).toMatchObject({ code: 7, stderr: expect.stringContaining("my_report") });
  expect(done.code).toBe(0);
  expect(await left("depended_on")).toMatchObject({ triggers: [], tables: ["contact"] });
});

/** A workspace with an active mapping whose row is in Salesforce. */
async function syncedWorkspace(schema: string): Promise<{ workspace: TestWorkspace; mappingId: string }> {
  const workspace = await bridge.createWorkspace(schema);
  const ask = (method: string, path: string, body?: object) =>
    bridge.request(method, `/api/v1/t/${workspace.id}${path}`, { token: workspace.token, ...(body && { body }) });
  const made = await ask("POST", "/mappings", { sf_object: "Contact", fields: ["LastName"] });
  const mappingId = String(((made.json?.data ?? {}) as { id?: string }).id);
  await vi.waitFor(async () => {
    await customer.query(`INSERT INTO ${schema}.contact (lastname) VALUES ('Synced')`);
  }, SOON);
  await vi.waitFor(async () => expect(await scheduled()).toContain(mappingId), SOON);
  return { workspace, mappingId };
}

const removal = () => workspaceRemoval(database(), vault());
const schedules = () => schedulesIn({ group: "bridge-dev", roleArn: "", fanOutQueueArn: "" });

async function scheduled(): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { mappingId } of schedules().list()) found.push(mappingId);
  return found;
}

/** The real parts, of which the first so many effects of one run are had and the next is followed by a power cut. */
function dying(dieAt: number) {
  let effects = 0;
  const mortal = <Port extends object>(port: Port, names: readonly (keyof Port)[]): Port => ({
    ...port,
    ...Object.fromEntries(
      names.map((name) => [
        name,
        async (...given: unknown[]) => {
          const answer: unknown = await (port[name] as (...args: unknown[]) => Promise<unknown>)(...given);
          effects += 1;
          if (effects === dieAt) throw new Error("power cut");
          return answer;
        },
      ]),
    ),
  });
  return {
    removal: mortal(removal(), ["condemn", "clear", "forget"]),
    schedules: mortal(schedules(), ["remove"]),
    schema: mortal(customerSchema, ["clear"]),
  };
}

async function left(schema: string) {
  const names = async (text: string): Promise<readonly string[]> =>
    (await customer.query<{ name: string }>(text, [schema])).rows.map(({ name }) => name);
  return {
    triggers: await names(
      `SELECT tgname AS name FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
       WHERE NOT tgisinternal AND c.relnamespace = $1::regnamespace ORDER BY 1`,
    ),
    functions: await names("SELECT proname AS name FROM pg_proc WHERE pronamespace = $1::regnamespace ORDER BY 1"),
    tables: await names(
      "SELECT relname AS name FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'v') ORDER BY 1",
    ),
  };
}

async function audited(workspaceId: string): Promise<unknown> {
  const { entries } = await auditPage(
    { workspaceId, actor: null, action: "workspace.deleted" },
    { limit: 5, offset: 0 },
  );
  expect(entries).toHaveLength(1);
  return entries[0];
}
