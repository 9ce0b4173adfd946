import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mintToken } from "../../lib/access/token.ts";
import { ROUTES, type Route, type RouteName } from "../../lib/http/routes.ts";
import { SCOPES, type Scope } from "../../lib/model/workspace/token.ts";
import { askingIn } from "../support/clients/ask.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { type ConnectedOrg, startConnectedOrg } from "../support/worlds/connected-org.ts";
import { createTestDatabase, type TestDatabase } from "../support/worlds/postgres.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";

let cloud: BridgeCloud;
let org: ConnectedOrg;
let database: TestDatabase;
let own: TestWorkspace;
let stranger: TestWorkspace;
/** Of another workspace, by the names that paths have for them. */
let foreign: Readonly<Record<string, string>>;
beforeAll(async () => {
  process.env["RATE_LIMIT_PER_MINUTE"] = "1000000";
  [cloud, org, database] = [await startBridgeCloud(), await startConnectedOrg(), await createTestDatabase()];
  own = await open("one");
  stranger = await open("other");
  foreign = await makeIds(stranger);
});
afterAll(async () => {
  delete process.env["RATE_LIMIT_PER_MINUTE"];
  await database.close();
  await org.close();
  await cloud.close();
});

const open = (schema: string) =>
  createTestWorkspace({ salesforce: org.connection, postgres: { url: database.url, schema } });

const ask = (route: RouteName, workspace: TestWorkspace, path: Readonly<Record<string, string>>, body?: object) =>
  askingIn(() => workspace)(route, { path, ...(body && { body }) });

async function makeIds(workspace: TestWorkspace): Promise<Readonly<Record<string, string>>> {
  const make = async (route: RouteName, path: Readonly<Record<string, string>>, body?: object) =>
    dataOf<{ id: string }>(await ask(route, workspace, path, body)).id;
  const webhook_id = await make("create-webhook", {}, { url: "http://127.0.0.1:9/", events: ["sync.broken"] });
  await ask("test-webhook", workspace, { webhook_id });
  const deliveries = await ask("list-deliveries", workspace, { webhook_id });
  return {
    mapping_id: await make("create-mapping", {}, { sf_object: "Contact", fields: ["Email"] }),
    token_id: await make("create-token", {}, { name: "x", owner: "a@example.com", scopes: ["read"] }),
    webhook_id,
    delivery_id: dataOf<readonly { id: string }[]>(deliveries)[0]?.id ?? "none was created",
  };
}

const unknown = { mapping_id: "map_0", token_id: "tok_0", webhook_id: "whk_0", delivery_id: "dlv_0" };

const named = Object.entries<Route>(ROUTES)
  .filter(([, { path }]) => /\{(mapping|token|webhook|delivery)_id\}/.test(path))
  .map(([name]) => name as RouteName);

describe("a refused caller finds out nothing of what there is, whatever is asked for", () => {
  const guarded = Object.entries<Route>(ROUTES)
    .filter(([, { scope }]) => scope !== null)
    .map(([name, { scope }]) => [name as RouteName, scope] as const);
  const numbers = { change_id: "1", row_id: "1", conflict_id: "1", mark: "0", key: "1" };
  const nothing = { ...unknown, ...numbers, object_name: "None", table: "none" };
  const statusOf = async (route: RouteName, id: string, token: string) =>
    (await ask(route, { ...own, id, token }, nothing)).status;
  const lesser = new Map<Scope, string>();
  beforeAll(async () => {
    for (const scope of SCOPES) lesser.set(scope, await own.tokenWith([scope]));
  });

  test.each(guarded)(
    "%s: 401 comes before 404, and 403 before what is not found in a workspace",
    async (route, scope) => {
      const below = SCOPES.slice(0, SCOPES.indexOf(scope ?? "read")).map((one) => lesser.get(one) ?? "");
      const others = [stranger.token, ...below];

      expect(await statusOf(route, "ws_none", mintToken("admin"))).toBe(401);
      expect(await statusOf(route, own.id, mintToken("admin"))).toBe(401);
      for (const token of others) expect(await statusOf(route, own.id, token)).toBe(403);
      expect(await statusOf(route, "ws_none", own.token)).toBe(404);
    },
  );
});

describe("what belongs to another workspace is not there, to the last byte of the answer", () => {
  test.each(named)("%s", async (route) => {
    const body = ROUTES[route].body ? {} : undefined;

    const answers = [await ask(route, own, foreign, body), await ask(route, own, unknown, body)];

    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    expect(answers[0]?.text.replaceAll(/\b(map|tok|whk|dlv)_\w+/g, "id")).toBe(
      answers[1]?.text.replaceAll(/\b(map|tok|whk|dlv)_\w+/g, "id"),
    );
  });

  test("a delivery of one webhook is not found below another of the same workspace", async () => {
    const other = await makeIds(own);
    const mixed = { webhook_id: other["webhook_id"] ?? "", delivery_id: foreign["delivery_id"] ?? "" };

    expect((await ask("read-delivery", own, mixed)).status).toBe(404);
    expect((await ask("retry-delivery", own, mixed)).status).toBe(404);
  });
});
