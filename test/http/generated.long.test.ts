import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as z from "zod/mini";
import type { OpenApi } from "../../lib/http/openapi/open-api.ts";
import type { RouteName } from "../../lib/http/routes.ts";
import { describeApi } from "../../lib/infra/describe-api/document.ts";
import { readEndpoints } from "../../lib/infra/describe-api/read-endpoints.ts";
import { type FailureCode, STATUS_OF } from "../../lib/model/failure.ts";
import { call, type Response } from "../support/clients/call.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { answerWhole } from "../support/doubles/answer-whole.ts";
import { type Generated, generatedRequests } from "../support/doubles/generated-requests.ts";
import { watchSocketsHere } from "../support/processes/watched-sockets.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { type ConnectedOrg, startConnectedOrg } from "../support/worlds/connected-org.ts";
import { createTestDatabase, type TestDatabase } from "../support/worlds/postgres.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";

/** `BRIDGE_GENERATED=100000 vitest run --mode long test/http/generated` for the long form. */
const REQUESTS = Number(process.env["BRIDGE_GENERATED"] ?? 1500);

vi.setConfig({ testTimeout: 120_000 + REQUESTS * 60, hookTimeout: 120_000 });

/** What a refusal says by default. */
const MUTE = "Invalid input";

type Handler = Parameters<typeof call>[0];

let cloud: BridgeCloud;
let org: ConnectedOrg;
let database: TestDatabase;
let workspace: TestWorkspace;
let document: OpenApi;
const handlers = new Map<RouteName, Handler>();
beforeAll(async () => {
  // As in what is deployed, where the schemas' library brings no words of its own along.
  z.config({ localeError: () => MUTE });
  process.env["RATE_LIMIT_PER_MINUTE"] = "1000000000";
  answerWhole();
  cloud = await startBridgeCloud();
  org = await startConnectedOrg();
  database = await createTestDatabase();
  workspace = await createTestWorkspace({
    salesforce: org.connection,
    postgres: { url: database.url, schema: "salesforce" },
  });
  const endpoints = await readEndpoints();
  document = describeApi(endpoints);
  for (const name of endpoints.keys()) {
    handlers.set(name, ((await import(`../../functions/api/${name}.ts`)) as { handler: Handler }).handler);
  }
});
afterAll(async () => {
  delete process.env["RATE_LIMIT_PER_MINUTE"];
  await database.close();
  await org.close();
  await cloud.close();
});

const send = ({ route, request }: Generated): Promise<Response> => {
  const handler = handlers.get(route);
  if (!handler) throw new Error(`${route} has no function`);
  return call(handler, route, { token: workspace.token, ...request });
};

/** Ids that are there, so that requests get past the look-up. */
async function makeIds(): Promise<Record<string, readonly string[]>> {
  const path = { workspace_id: workspace.id };
  const mapping = await send({
    route: "create-mapping",
    request: { path, body: { sf_object: "Contact", fields: ["Email"] } },
  });
  const body = { url: "http://127.0.0.1:9/", events: ["sync.broken"] };
  const webhook = await send({ route: "create-webhook", request: { path, body } });
  return {
    mapping_id: [dataOf<{ id: string }>(mapping).id],
    webhook_id: [dataOf<{ id: string }>(webhook).id],
    object_name: ["Contact", "Account"],
    row_id: ["1", "999999999999999"],
  };
}

/** What speaks against an answer; null: nothing. */
function complaint({ status, json, text, headers }: Response): string | null {
  if (status >= 500) return `a ${status}: ${text}`;
  if (status === 200) return null; // its shape was checked when it came
  const { code } = json?.error ?? {};
  if (json?.success !== false || code === undefined) return `no envelope: ${text}`;
  if (STATUS_OF[code as FailureCode] !== status) return `${code} with status ${status}`;
  const mute = json.error?.details?.find(({ message }) => message === MUTE);
  if (mute) return `a refusal that does not say what would be right: ${mute.path}: ${mute.message}`;
  return headers["X-Request-Id"] ? null : "no X-Request-Id";
}

test(`${REQUESTS} generated requests get no 5xx and no answer outside of its schema`, async () => {
  const sockets = await watchSocketsHere();
  const ids = await makeIds();
  const statuses = new Map<number, number>();

  await fc.assert(
    fc.asyncProperty(generatedRequests(document, workspace.id, ids), async (generated) => {
      const answer = await send(generated);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      const wrong = complaint(answer);
      if (wrong !== null) throw new Error(`${generated.route} gave ${wrong}`);
    }),
    { numRuns: REQUESTS },
  );

  // The generator is worth something only while some of its requests are right.
  expect(statuses.get(200) ?? 0).toBeGreaterThan(REQUESTS / 20);
  expect(statuses.get(400) ?? 0).toBeGreaterThan(REQUESTS / 20);
  expect(sockets.hosts()).toEqual(["127.0.0.1"]);
});
