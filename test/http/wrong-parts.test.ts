import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mappings } from "../../functions/services/composition.ts";
import type { JsonSchema } from "../../lib/http/openapi/open-api.ts";
import type { RouteName } from "../../lib/http/routes.ts";
import { askingIn } from "../support/clients/ask.ts";
import type { Request } from "../support/clients/call.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { importMappings } from "../support/worlds/carry-out.ts";
import { type ConnectedOrg, startConnectedOrg } from "../support/worlds/connected-org.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";
import { partsOf, RELEASED, resolve, schemaOf } from "./breaking-changes.ts";

/** Of the description as it was released, so that a check that gets lost does not take its own case along. */
const OPERATIONS = Object.values(RELEASED.paths).flatMap((methods) => Object.values(methods));
const CANDIDATES = ["?", 5, true, ["?"], { wrong: 1 }, null];

let cloud: BridgeCloud;
let org: ConnectedOrg;
let workspace: TestWorkspace;
/** What paths name, made where it is looked up before the body is read. */
let path: Readonly<Record<string, string>>;
beforeAll(async () => {
  process.env["RATE_LIMIT_PER_MINUTE"] = "1000000000";
  cloud = await startBridgeCloud();
  org = await startConnectedOrg();
  workspace = await createTestWorkspace({ salesforce: org.connection });
  await importMappings(workspace.id, [{ object: "Contact", fields: ["Email"] }]);
  const [mapping] = (await mappings().list(workspace.id)).mappings;
  const body = { url: "https://hooks.example.com/", events: ["sync.broken"] };
  path = { workspace_id: workspace.id, object_name: "Contact", row_id: "1", change_id: "1" };
  const webhook = await askIn("create-webhook", { body });
  path = { ...path, mapping_id: mapping?.id ?? "", webhook_id: dataOf<{ id: string }>(webhook).id };
});
afterAll(async () => {
  delete process.env["RATE_LIMIT_PER_MINUTE"];
  await org.close();
  await cloud.close();
});

const askIn = askingIn(() => workspace);
const ajv = new Ajv2020({ strict: false });

/** Values that the schema does not take. */
function wrongValues(schema: JsonSchema): unknown[] {
  const isRight = ajv.compile({ ...schema, components: RELEASED.components });
  return CANDIDATES.filter((value) => !isRight(value));
}

const parameters = OPERATIONS.flatMap(({ operationId, parameters }) =>
  parameters
    .filter((one) => one.in === "query")
    .map(({ name, schema }) => [operationId as RouteName, name, schema] as const),
);

const properties = OPERATIONS.flatMap(({ operationId, requestBody }) =>
  Object.entries(partsOf(resolve(schemaOf(requestBody), RELEASED))).map(
    ([name, part]) => [operationId as RouteName, name, part] as const,
  ),
);

/** Bodies that a route reads before its query. */
const RIGHT: Partial<Record<RouteName, object>> = {
  "import-config": { version: 1, mappings: [] },
  "set-postgres": { url: "postgresql://user@192.0.2.1/test", schema: "salesforce" },
};

test.each(parameters)("%s refuses a wrong %s of the query by its name", async (route, name, schema) => {
  const accepted = (text: string) => !wrongValues(schema).includes(text);
  const wrong = accepted("?") ? "x".repeat(300) : "?";

  await expectRefused(route, name, { query: { [name]: wrong }, ...(RIGHT[route] && { body: RIGHT[route] }) });
});

test.each([
  ["list-activity", "state", ["NEW", "FAILED"]],
  ["list-audit-log", "limit", ["5", "5"]],
] as const)("%s refuses %s given twice", async (route, name, values) => {
  await expectRefused(route, name, { query: { [name]: values } });
});

test.each(properties)("%s refuses a wrong %s of the body by its name", async (route, name, schema) => {
  const wrong = wrongValues(schema);

  expect(wrong.length).toBeGreaterThan(0);
  for (const value of wrong) await expectRefused(route, name, { body: { [name]: value } });
});

test("a parameter that an endpoint of ours does not have is refused with the nearest one", async () => {
  const webhooks = await askIn("list-webhooks", { path, query: { limit: "1" } });
  const changes = await askIn("list-conflicts", { path, query: { ofset: "1", mapping: "map_1" } });

  expect([webhooks.status, changes.status]).toEqual([400, 400]);
  expect(webhooks.json?.error?.details).toEqual([
    { path: "limit", message: "is no parameter of this endpoint, which takes none" },
  ]);
  expect(changes.json?.error?.details).toEqual([
    { path: "ofset", message: "is no parameter of this endpoint; the nearest is offset" },
    { path: "mapping", message: "is no parameter of this endpoint; the nearest is mapping_id" },
  ]);
});

test("the contract's endpoints ignore what they do not have, and name it in a Warning that no text can break", async () => {
  const list = (query: Readonly<Record<string, string>>) => askIn("list-audit-log", { query });

  const odd = await list({ 'a"\r\nSet-Cookie: x\\': "1", ofset: "5" });
  const plain = await list({ offset: "5" });

  expect([odd.status, plain.status]).toEqual([200, 200]);
  expect(odd.headers["Warning"]).toBe(
    '299 - "a???Set-Cookie: x? was ignored: it is no parameter of this endpoint; the nearest is offset", ' +
      '299 - "ofset was ignored: it is no parameter of this endpoint; the nearest is offset"',
  );
  expect(plain.headers).not.toHaveProperty("Warning");
  expect((await list({ pi: "1" })).headers["Warning"]).toMatch(/^299 - "pi was ignored/);
});

async function expectRefused(route: RouteName, name: string, request: Request): Promise<void> {
  const { status, json } = await askIn(route, { path, ...request });
  const badPaths = json?.error?.details?.map((detail) => detail.path) ?? [];

  expect({ request, status }).toEqual({ request, status: 400 });
  expect(badPaths.some((one) => one?.split(/[.[]/).includes(name))).toBe(true);
}
