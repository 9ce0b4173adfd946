import type { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { auditLog, now } from "../../functions/services/composition.ts";
import type { RouteName } from "../../lib/http/routes.ts";
import { createTestClock } from "../../lib/local/clock.ts";
import { newId } from "../../lib/model/id.ts";
import { type Customer, createCustomer } from "../adapters/postgres/customer.ts";
import { askingIn } from "../support/clients/ask.ts";
import type { Response } from "../support/clients/call.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { createDice } from "../support/doubles/dice.ts";
import { isWholeGrid } from "../support/run/whole-grid.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";

let cloud: BridgeCloud;
let customer: Customer;
let workspace: TestWorkspace;
beforeAll(async () => {
  process.env["RATE_LIMIT_PER_MINUTE"] = "1000000";
  cloud = await startBridgeCloud({ clock: createTestClock(new Date()) });
  customer = await createCustomer();
  workspace = await createTestWorkspace({ postgres: { url: customer.url, schema: "salesforce" } });
});
afterAll(async () => {
  delete process.env["RATE_LIMIT_PER_MINUTE"];
  await customer.close();
  await cloud.close();
});

type Query = Readonly<Record<string, string>>;

const ask = (route: RouteName, query: Query = {}, path: Query = {}) =>
  askingIn(() => workspace)(route, { query, path });

/** Every id of a list, read page by page behind the last one; `between` happens after each page. */
async function pagedIds<Id extends string | number>(
  read: (query: Query) => Promise<Response>,
  between: () => Promise<unknown> = async () => undefined,
): Promise<readonly Id[]> {
  const ids: Id[] = [];
  for (;;) {
    const last = ids.at(-1);
    const page = dataOf<readonly { id: Id }[]>(await read(last === undefined ? {} : { before_id: String(last) }));
    if (page.length === 0) return ids;
    expect(ids).not.toContain(page[0]?.id);
    ids.push(...page.map(({ id }) => id));
    await between();
  }
}

/** The results of changes: the log and its totals as cycles write them. */
async function settle(state: "SUCCESS" | "FAILED", where: string): Promise<void> {
  await customer.sql(`
    WITH settled AS (
      UPDATE salesforce._trigger_log SET state = '${state}', processed_at = clock_timestamp(),
        last_operation = '${state === "SUCCESS" ? "UPDATED" : "FAILED"}'
      WHERE state = 'NEW' AND ${where} RETURNING table_name)
    UPDATE salesforce._bridge_totals SET ${state === "SUCCESS" ? "success = success" : "failed = failed"} + (SELECT count(*) FROM settled)
    WHERE table_name = 'contact'`);
}

async function retry(where: string): Promise<void> {
  await customer.sql(`
    WITH again AS (
      UPDATE salesforce._trigger_log SET state = 'NEW', processed_at = NULL, last_operation = NULL
      WHERE state = 'FAILED' AND ${where} RETURNING id)
    UPDATE salesforce._bridge_totals SET failed = failed - (SELECT count(*) FROM again) WHERE table_name = 'contact'`);
}

const write = (rows: number, client: Pick<Client, "query"> = customer.application) =>
  client.query(`INSERT INTO salesforce.contact (lastname) SELECT 'Row ' || n FROM generate_series(1, ${rows}) AS n`);

async function logIds(where = "true"): Promise<readonly number[]> {
  const rows = await customer.sql(`SELECT id FROM salesforce._trigger_log WHERE ${where} ORDER BY id DESC`);
  return rows.map(({ id }) => Number(id));
}

async function emptyLog(): Promise<void> {
  await customer.sql("TRUNCATE salesforce._trigger_log, salesforce._bridge_totals");
  await customer.sql("INSERT INTO salesforce._bridge_totals (table_name) VALUES ('contact')");
}

/** Ten pages, or more of them. */
const ROWS = isWholeGrid ? 5000 : 2000;

test.each<[string, Query]>([
  ["without a filter", {}],
  ["with state=NEW", { state: "NEW" }],
])(
  "thousands of rows %s, paged by before_id while rows are added, settled and retried: each of the beginning once",
  async (_, filter) => {
    await emptyLog();
    await write(ROWS);
    await settle("SUCCESS", "id % 5 = 0");
    await settle("FAILED", "id % 5 = 1");
    const beginning = await logIds("state" in filter ? `state = '${filter["state"]}'` : "true");
    // Rows of the filter that settle or are retried meanwhile lie above what was read: they leave the list only afterwards.
    const read = { lowest: Number.MAX_SAFE_INTEGER };

    const ids = await pagedIds<number>(
      async (query) => {
        const page = await ask("list-activity", { ...filter, ...query, limit: "200" });
        read.lowest = Math.min(read.lowest, ...dataOf<readonly { id: number }[]>(page).map(({ id }) => id));
        return page;
      },
      async () => {
        await write(7);
        await settle("SUCCESS", `id >= ${read.lowest} AND id % 3 = 0`);
        await settle("FAILED", `id >= ${read.lowest} AND id % 7 = 0`);
        await retry(`id >= ${read.lowest} AND id % 2 = 0`);
      },
    );

    const [highest = 0] = beginning;
    expect(ids).toEqual(ids.toSorted((one, other) => other - one));
    expect(ids.filter((id) => id <= highest)).toEqual(beginning);
    expect(new Set(ids).size).toBe(ids.length);
  },
);

test("failed rows paged by before_id while some are retried: those that stay failed are seen once, totals stay whole", async () => {
  await emptyLog();
  await write(300);
  await settle("FAILED", "true");
  const stay = await logIds("id % 2 = 0");

  const ids = await pagedIds<number>(
    (query) => ask("list-errors", { ...query, limit: "50" }),
    () => retry("id % 2 = 1"),
  );

  expect(ids.filter((id) => id % 2 === 0)).toEqual(stay);
  const page = await ask("list-errors", { before_id: String(stay.at(-2)), limit: "1" });
  expect(page.json).toMatchObject({ data: [{ id: stay.at(-1) }], meta: { total: stay.length, limit: 1, offset: 0 } });
});

interface Feed {
  readonly changes: readonly { readonly id: number; readonly record_id: number; readonly state: string }[];
  readonly next: string;
  readonly more: boolean;
  readonly waiting: boolean;
}

const follow = async (since: string | null, more: Query = {}) =>
  dataOf<Feed>(await ask("list-changes", { ...(since === null ? {} : { since }), ...more }));

/** Reads on until nothing waits: transactions of other databases of the server are waited for, too. */
async function followAll(since: string | null): Promise<Pick<Feed, "changes" | "next">> {
  const changes: Feed["changes"][number][] = [];
  for (let page = await follow(since, { limit: "500" }); ; page = await follow(page.next, { limit: "500" })) {
    changes.push(...page.changes);
    if (!page.more && !page.waiting) return { changes, next: page.next };
  }
}

test("changes?since= shows a change once whose transaction began earlier and committed later, and waits for it", async () => {
  await emptyLog();
  await write(1);
  const first = await followAll(null);
  const late = await customer.connect();
  await late.query("BEGIN");
  await write(1, late);
  await write(2);

  const beside = await follow(first.next);
  const waiting = await follow(beside.next);
  await late.query("COMMIT");
  const after = await followAll(waiting.next);
  const end = await followAll(after.next);

  expect(first.changes.length).toBe(1);
  expect([beside, waiting].map(({ changes, waiting }) => [changes.length, waiting])).toEqual([
    [0, true],
    [0, true],
  ]);
  expect(after.changes.map(({ id }) => id).toReversed()).toEqual((await logIds()).slice(0, 3));
  expect(end.changes).toEqual([]);
  const { record_id, state } = after.changes[0] ?? {};
  const [row] = await customer.sql("SELECT max(id) - 2 AS id FROM salesforce.contact");
  expect({ record_id, state }).toEqual({ record_id: Number(row?.["id"]), state: "NEW" });
});

test("changes?since= sees every change once among writers that overlap, commit in any order and roll back", async () => {
  await emptyLog();
  const dice = createDice(7);
  const writers = await Promise.all([1, 2, 3, 4, 5].map(() => customer.connect()));
  const open = new Set<Client>();
  const seen: number[] = [];
  let since: string | null = null;
  const read = async () => {
    const page: Feed = await follow(since, { limit: "37" });
    seen.push(...page.changes.map(({ id }) => id));
    since = page.next;
    return page;
  };

  const steps = isWholeGrid ? 600 : 200;
  for (let step = 0; step < steps; step += 1) {
    const writer = dice.pick(writers) ?? customer.application;
    if (!open.has(writer)) {
      await writer.query("BEGIN");
      open.add(writer);
    }
    await write(1 + dice.below(12), writer);
    if (dice.below(3) === 0) {
      await writer.query(dice.below(5) === 0 ? "ROLLBACK" : "COMMIT");
      open.delete(writer);
    }
    if (dice.below(2) === 0) await read();
    if (dice.below(9) === 0) await settle("SUCCESS", "id % 2 = 0");
  }
  for (const writer of open) await writer.query("COMMIT");
  for (let page = await read(); page.more || page.waiting || page.changes.length > 0; page = await read());

  expect(seen.length).toBeGreaterThan(3 * steps);
  expect(seen).toEqual((await logIds()).toReversed());
});

test("a cursor that is older than what the log keeps is refused with 410 and the remedy; a fresh one continues", async () => {
  await emptyLog();
  await write(1);
  const { next } = await followAll(null);
  await cloud.clock.advance({ days: 20 });
  const later = await followAll(next);
  await cloud.clock.advance({ days: 12 });

  const expired = await ask("list-changes", { since: next });

  expect(expired.status).toBe(410);
  expect(expired.json?.error).toMatchObject({
    code: "CURSOR_EXPIRED",
    message: expect.stringMatching(/31 days; ask again without `since`/),
  });
  expect((await ask("list-changes", { since: later.next })).status).toBe(200);
  const change = (log_days: number) => askingIn(() => workspace)("change-retention", { body: { log_days } });
  await change(11);
  expect((await ask("list-changes", { since: later.next })).json?.error?.message).toContain("11 days");
  await change(31);
});

test("a cursor that waits for an open transaction grows old, for what waits may be forgotten before it is shown", async () => {
  await emptyLog();
  await write(1);
  const late = await customer.connect();
  await late.query("BEGIN");
  await write(1, late);
  await write(1);
  const { next } = await follow(null);
  await cloud.clock.advance({ days: 20 });
  const later = await follow(next);
  await cloud.clock.advance({ days: 12 });
  await late.query("COMMIT");

  expect(later.waiting).toBe(true);
  expect((await ask("list-changes", { since: later.next })).json?.error?.code).toBe("CURSOR_EXPIRED");
});

test("a cursor of a database that was replaced is refused with 410, and what is no cursor with 400", async () => {
  const { next } = await followAll(null);
  await customer.sql("TRUNCATE salesforce._trigger_log RESTART IDENTITY");

  expect((await ask("list-changes", { since: next })).json?.error?.code).toBe("CURSOR_EXPIRED");
  for (const since of ["yesterday", "1.2.3", "9.1.1.1.1"]) {
    const { status, json } = await ask("list-changes", { since });
    expect([status, json?.error?.details?.[0]?.path]).toEqual([400, "since"]);
  }
});

test("the audit log is paged by before_id while entries are added that match", async () => {
  const start = now().getTime();
  const entryAt = (at: number) =>
    auditLog().append({
      ...{ id: newId("aud"), workspaceId: workspace.id, actor: "ada@example.com", action: "mapping.updated" },
      ...{ resourceId: "map_1", detail: {}, createdAt: new Date(start + at * 3_600_000) },
    });
  for (let at = 0; at < 30; at += 1) await entryAt(at);
  const from = new Date(start + 2 * 3_600_000).toISOString().replace("Z", "+02:00");
  const filter = { actor: "ada@example.com", action: "mapping.updated", from };
  const listed = dataOf<readonly { id: string }[]>(await ask("list-audit-log", filter));

  const ids = await pagedIds<string>(
    (query) => ask("list-audit-log", { ...filter, ...query, limit: "7" }),
    () => entryAt(90),
  );

  expect(ids).toEqual(listed.map(({ id }) => id));
  expect(ids).toHaveLength(30);
  for (const query of [{ before_id: "aud_1" }, { from: "yesterday" }, { to: "2026-13-01" }] as Query[]) {
    for (const format of ["json", "csv"]) {
      const answer = await ask("list-audit-log", { ...query, format });
      expect([answer.status, answer.json?.error?.details?.[0]?.path]).toEqual([400, Object.keys(query)[0]]);
    }
  }
});
