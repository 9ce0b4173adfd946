import { parse } from "csv-parse/sync";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { auditLog } from "../../functions/services/composition.ts";
import { migrate } from "../../lib/adapters/postgres/schema/migrate.ts";
import { openSession } from "../../lib/adapters/postgres/session/session.ts";
import { newId } from "../../lib/model/id.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { type HttpAnswer, type RunningBridge, startRunningBridge } from "../support/worlds/running-bridge.ts";
import type { TestWorkspace } from "../support/worlds/workspace.ts";

/** The changes of the workspace that is asked, newest first, two at least of every table and state. */
const CHANGES = [
  ["contact", "NEW"],
  ["account", "FAILED"],
  ["contact", "SUCCESS"],
  ["account", "SUCCESS"],
  ["account", "NEW"],
  ["contact", "FAILED"],
  ["contact", "PENDING"],
  ["account", "PENDING"],
  ["contact", "SUCCESS"],
  ["contact", "NEW"],
  ["account", "FAILED"],
  ["account", "SUCCESS"],
  ["contact", "FAILED"],
  ["account", "PENDING"],
] as const;

/** What Salesforce said of those that failed. */
const REFUSED = "REQUIRED_FIELD_MISSING: no name";

/** Its audit entries, newest first; what setting the workspace up has written is older. */
const ENTRIES = [
  ["ada@example.com", "webhook.updated"],
  ["eva@example.com", "mapping.updated"],
  ["ada@example.com", "mapping.updated"],
  ["eva@example.com", "webhook.updated"],
  ["ada@example.com", "webhook.updated"],
  ["ada@example.com", "mapping.updated"],
  ["eva@example.com", "mapping.updated"],
  ["eva@example.com", "webhook.updated"],
] as const;

type Query = Readonly<Record<string, string>>;

let bridge: RunningBridge;
let client: Client;
let workspace: TestWorkspace;
beforeAll(async () => {
  bridge = await startRunningBridge();
  client = new Client({ connectionString: bridge.database.url });
  await client.connect();
  workspace = await bridge.createWorkspace();
  // What another workspace holds is in no list of this one.
  for (const [schema, one] of [
    ["salesforce", workspace],
    ["crm", await bridge.createWorkspace("crm")],
  ] as const)
    await fill(schema, one);
});
afterAll(async () => {
  await client.end();
  await bridge.close();
});

async function fill(schema: string, { id: workspaceId }: TestWorkspace): Promise<void> {
  const session = await openSession({ url: bridge.database.url, schema });
  await migrate(session, schema, workspaceId).finally(() => session.close());
  for (const [table, state] of CHANGES.toReversed()) {
    const isOver = state === "SUCCESS" || state === "FAILED";
    await client.query(
      `INSERT INTO ${schema}._trigger_log (state, action, table_name, record_id, last_operation, sf_message, processed_at)
       VALUES ($1, 'UPDATE', $2, 1, $3, $4, $5)`,
      [
        state,
        table,
        state === "SUCCESS" ? "UPDATED" : state === "FAILED" ? "FAILED" : null,
        state === "FAILED" ? REFUSED : null,
        isOver ? new Date() : null,
      ],
    );
  }
  await client.query(`
    INSERT INTO ${schema}._bridge_totals (table_name, success, failed)
    SELECT table_name, count(*) FILTER (WHERE state = 'SUCCESS'), count(*) FILTER (WHERE state = 'FAILED')
    FROM ${schema}._trigger_log GROUP BY table_name;
    INSERT INTO ${schema}._bridge_in_hand (id, table_name, ids)
    SELECT table_name, table_name, array_agg(id) FROM ${schema}._trigger_log WHERE state = 'PENDING' GROUP BY table_name`);
  for (const [actor, action] of ENTRIES.toReversed()) {
    const id = newId("aud");
    await auditLog().append({ id, workspaceId, actor, action, resourceId: "r", detail: {}, createdAt: new Date() });
  }
}

function ask({ id, token }: TestWorkspace, path: string, query: Query): Promise<HttpAnswer> {
  return bridge.request("GET", `/api/v1/t/${id}${path}?${new URLSearchParams(query)}`, { token });
}

/** Each parameter alone, and each value of it with each value of every other. */
function pairsOf(parameters: Readonly<Record<string, readonly string[]>>): readonly Query[] {
  const all = Object.entries(parameters);
  const alone = all.flatMap(([name, values]) => values.map((value): Query => ({ [name]: value })));
  const together = all.flatMap(([name, values], at) =>
    all
      .slice(at + 1)
      .flatMap(([other, others]) => values.flatMap((value) => others.map((one) => ({ [name]: value, [other]: one })))),
  );
  return [{}, ...alone, ...together];
}

/** What the contract (4.1, notes 1 and 2) says that a page holds of the entries that match. */
function pageOf<Entry>(matching: readonly Entry[], { limit = "50", offset = "0" }: Query, most: number) {
  const [size, start] = [Math.min(Number(limit), most), Number(offset)];
  return { entries: matching.slice(start, start + size), meta: { total: matching.length, limit: size, offset: start } };
}

const ACTIVITY = pairsOf({
  limit: ["1", "3", "200", "201"],
  offset: ["0", "1", "5", "13", "14", "99"],
  state: ["NEW", "PENDING", "SUCCESS", "FAILED"],
  table: ["contact", "account", "lead"],
});

test("activity under each parameter, alone and with each other one", async () => {
  for (const query of ACTIVITY) {
    const answer = await ask(workspace, "/monitoring/activity", query);

    const matching = CHANGES.filter(
      ([table, state]) => (query["table"] ?? table) === table && (query["state"] ?? state) === state,
    );
    const { entries, meta } = pageOf(matching, query, 200);
    const rows = dataOf<readonly { table_name: string; state: string; id: number }[]>(answer);
    expect({
      query,
      rows: rows.map(({ table_name, state }) => [table_name, state]),
      meta: answer.json?.meta,
    }).toEqual({ query, rows: entries, meta });
    expect(rows.map(({ id }) => id)).toEqual(rows.map(({ id }) => id).toSorted((one, other) => other - one));
  }
});

test("errors are the failed ones, paged alike", async () => {
  for (const query of pairsOf({ limit: ["1", "2"], offset: ["0", "1", "3"], table: ["contact", "account"] })) {
    const answer = await ask(workspace, "/monitoring/errors", query);

    const failed = CHANGES.filter(([table, state]) => state === "FAILED" && (query["table"] ?? table) === table);
    const { entries, meta } = pageOf(failed, query, 200);
    const rows = dataOf<readonly { table_name: string; _ab_err: string }[]>(answer);
    expect({
      query,
      rows: rows.map(({ table_name, _ab_err }) => [table_name, _ab_err]),
      meta: answer.json?.meta,
    }).toEqual({ query, rows: entries.map(([table]) => [table, REFUSED]), meta });
  }
});

test("the audit log under each parameter, alone and with each other one, in either format", async () => {
  const written = await ask(workspace, "/audit-log", {});
  const older = dataOf<readonly { actor: string; action: string }[]>(written)
    .slice(ENTRIES.length)
    .map(({ actor, action }) => [actor, action] as const);
  const all = [...ENTRIES, ...older];
  expect(older.length).toBeLessThan(10);

  for (const query of pairsOf({
    limit: ["1", "3", "500", "501"],
    offset: ["0", "2", "7", "99"],
    actor: ["ada@example.com", "eva@example.com", "none@example.com"],
    action: ["mapping.updated", "webhook.updated", "mapping.deleted"],
    format: ["json", "csv"],
  })) {
    const answer = await ask(workspace, "/audit-log", query);

    const matching = all.filter(
      ([actor, action]) => (query["actor"] ?? actor) === actor && (query["action"] ?? action) === action,
    );
    const isFile = query["format"] === "csv";
    const whole = isFile && query["limit"] === undefined ? { limit: "500", ...query } : query;
    const { entries, meta } = pageOf(matching, whole, 500);
    const found = isFile
      ? (parse(answer.text) as string[][]).slice(1).map(([, , actor, action]) => [actor, action])
      : dataOf<readonly { actor: string; action: string }[]>(answer).map(({ actor, action }) => [actor, action]);
    expect({ query, found }).toEqual({ query, found: entries });
    expect({ query, meta: answer.json?.meta }).toEqual({ query, meta: isFile ? undefined : meta });
  }
});
