import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { deliveries, now } from "../../functions/services/composition.ts";
import { ROUTES, type RouteName } from "../../lib/http/routes.ts";
import { readEndpoints } from "../../lib/infra/describe-api/read-endpoints.ts";
import { createTestClock } from "../../lib/local/clock.ts";
import { newDelivery } from "../../lib/model/delivery/delivery.ts";
import { newId } from "../../lib/model/id.ts";
import { type Customer, createCustomer } from "../adapters/postgres/customer.ts";
import { askingIn } from "../support/clients/ask.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { contactShape } from "../support/worlds/shapes.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";

type Query = Readonly<Record<string, string>>;
type Listed = Readonly<Record<string, unknown>>;

let cloud: BridgeCloud;
let customer: Customer;
let workspace: TestWorkspace;
beforeAll(async () => {
  cloud = await startBridgeCloud({ clock: createTestClock(new Date()) });
  customer = await createCustomer({ shape: contactShape({ upsertField: "Key__c" }) });
  workspace = await createTestWorkspace({ postgres: { url: customer.url, schema: "salesforce" } });
  await fillDatabase();
  // On a busy machine the first connection may count as one to a silent database, which is asked again later.
  await vi.waitFor(async () => {
    await cloud.clock.advance({ minutes: 1 });
    expect((await ask("list-activity")).status).toBe(200);
  }, 300_000);
});
afterAll(async () => {
  await customer.close();
  await cloud.close();
});

/** Two of everything that can be filtered by: tables, states, rows, records, mappings. */
async function fillDatabase(): Promise<void> {
  await customer.sql(
    "INSERT INTO salesforce.contact (lastname, key__c) SELECT 'Row', 'K-' || n FROM generate_series(1, 6) AS n",
  );
  await customer.sql("UPDATE salesforce.contact SET sfid = '00300000000000' || id || 'AAA'");
  await customer.sql(`
    TRUNCATE salesforce._trigger_log, salesforce._bridge_totals, salesforce._bridge_in_hand`);
  await customer.sql(`
    INSERT INTO salesforce._trigger_log (state, action, table_name, record_id, sfid, last_operation, sf_message, processed_at)
    SELECT state, 'UPDATE', CASE WHEN n % 3 = 0 THEN 'account' ELSE 'contact' END, 1 + n % 6, '00300000000000' || 1 + n % 6 || 'AAA',
      CASE state WHEN 'SUCCESS' THEN 'UPDATED' WHEN 'FAILED' THEN 'FAILED' END,
      CASE state WHEN 'FAILED' THEN 'REQUIRED_FIELD_MISSING: no name [Name]' END,
      CASE WHEN state IN ('SUCCESS', 'FAILED') THEN now() END
    FROM (SELECT n, (ARRAY['NEW', 'PENDING', 'SUCCESS', 'FAILED', 'FAILED'])[1 + n % 5] AS state
          FROM generate_series(1, 30) AS n) AS changes ORDER BY n`);
  await customer.sql(`
    INSERT INTO salesforce._bridge_totals (table_name, success, failed)
    SELECT table_name, count(*) FILTER (WHERE state = 'SUCCESS'), count(*) FILTER (WHERE state = 'FAILED')
    FROM salesforce._trigger_log GROUP BY table_name`);
  await customer.sql(`
    INSERT INTO salesforce._bridge_in_hand (id, table_name, ids)
    SELECT table_name, table_name, array_agg(id) FROM salesforce._trigger_log WHERE state = 'PENDING' GROUP BY table_name`);
  for (const mapping of ["map_contact", "map_account"]) {
    await customer.sql(
      `INSERT INTO salesforce._bridge_conflicts (mapping_id, sfid, record_id, winner, at)
       VALUES ($1, '003000000000001AAA', 1, 'postgres', now())`,
      [mapping],
    );
    await customer.sql(
      `INSERT INTO salesforce._bridge_inbound_errors (mapping_id, sfid, error, first_at, last_at)
       VALUES ($1, '003000000000001AAA', 'too long', now(), now())`,
      [mapping],
    );
  }
}

const ask = (route: RouteName, query: Query = {}, path: Query = {}) =>
  askingIn(() => workspace)(route, { query, path });

const asks = (route: RouteName) => async (query: Query) =>
  dataOf<readonly Listed[]>(await ask(route, { ...query, limit: "200" }));

interface Feed {
  readonly changes: readonly Listed[];
  readonly next: string;
  readonly waiting: boolean;
}

/** All changes: a page ends before what an older transaction may still add, in whichever file's database that is. */
async function followed(query: Query, since: Query = {}): Promise<readonly Listed[]> {
  const { changes, next, waiting } = dataOf<Feed>(await ask("list-changes", { ...query, ...since }));
  return waiting ? [...changes, ...(await followed(query, { since: next }))] : changes;
}

const LISTS = {
  "list-activity": asks("list-activity"),
  "list-errors": asks("list-errors"),
  "list-conflicts": asks("list-conflicts"),
  "list-inbound-errors": asks("list-inbound-errors"),
  "list-failures": async (query: Query) => dataOf<readonly Listed[]>(await ask("list-failures", query)),
  "list-changes": followed,
} satisfies Partial<Record<RouteName, (query: Query) => Promise<readonly Listed[]>>>;

const of = (name: string, wanted: unknown) => (row: Listed) => row[name] === wanted;
const third = "003000000000003AAA";
const ofThird = (row: Listed) => of("sfid", third)(row) && of("table_name", "contact")(row);

/** Each filter alone, and some together: which of the whole list's entries it lists. */
const FILTERS: readonly (readonly [keyof typeof LISTS, Query, (row: Listed) => boolean])[] = [
  ["list-activity", { sfid: third }, ofThird],
  ["list-activity", { row: "3" }, ofThird],
  ["list-activity", { key: "K-3" }, ofThird],
  ["list-activity", { key: "K-3", state: "FAILED" }, (row) => ofThird(row) && of("state", "FAILED")(row)],
  ["list-failures", { table: "contact" }, of("table_name", "contact")],
  ["list-failures", { table: "account" }, of("table_name", "account")],
  ["list-changes", { table: "contact" }, of("table_name", "contact")],
  ["list-changes", { table: "account" }, of("table_name", "account")],
  ["list-conflicts", { mapping_id: "map_contact" }, of("mapping_id", "map_contact")],
  ["list-conflicts", { mapping_id: "map_account" }, of("mapping_id", "map_account")],
  ["list-inbound-errors", { mapping_id: "map_contact" }, of("mapping_id", "map_contact")],
  ["list-inbound-errors", { mapping_id: "map_account" }, of("mapping_id", "map_account")],
];

test.each(FILTERS)("%s with %j lists what matches, all of it and nothing else", async (list, query, matches) => {
  const whole = await LISTS[list]({});

  const filtered = await LISTS[list](query);

  expect(filtered).toEqual(whole.filter(matches));
  expect(filtered.length).toBeGreaterThan(0);
  expect(filtered.length).toBeLessThan(whole.length);
});

test("deliveries of a webhook are its own, filtered by status and event, page by page while others are created, and name the row that each is about", async () => {
  const body = { url: "https://hooks.example.com/", events: ["record.failed", "sync.broken"] };
  const make = async () => {
    const made = await askingIn(() => workspace)("create-webhook", { body });
    return dataOf<{ id: string }>(made).id;
  };
  const [webhookId, other] = [await make(), await make()];
  const data = { mapping_id: "map_contact", sf_object: "Contact", table_name: "contact", record_id: 7 };
  const delivery = (at: number, webhookId: string) => ({
    ...newDelivery({
      ...{ workspaceId: workspace.id, webhookId, id: newId("dlv"), eventId: newId("evt") },
      event: at % 3 === 0 ? "sync.broken" : "record.failed",
      body: JSON.stringify({ data: at % 3 === 0 ? { mapping_id: "map_contact", sf_object: "Contact" } : data }),
      createdAt: new Date(now().getTime() + Math.floor(at / 4)), // some in the same millisecond
    }),
    ...(at % 2 === 0 && { status: "failed" as const }),
  });
  const all = Array.from({ length: 330 }, (_, at) => delivery(at, webhookId));
  await deliveries().add([...all, delivery(1, other)]);
  const wanted = all.filter(({ event, status }) => event === "record.failed" && status === "failed");
  const filter = { event: "record.failed", status: "failed" };
  const list = (query: Query) => ask("list-deliveries", query, { webhook_id: webhookId });
  const idsOf = (answer: Awaited<ReturnType<typeof ask>>) =>
    dataOf<readonly { id: string }[]>(answer).map(({ id }) => id);

  const whole = await list({ ...filter, limit: "200" });
  const ids = idsOf(whole);
  const first = await list({ ...filter, limit: "15", subjects: "true" });
  const skipped = await list({ ...filter, limit: "2", offset: "108" });
  await deliveries().add([delivery(2000, webhookId)]);
  const second = await list({ ...filter, limit: "200", before_id: ids[14] ?? "" });
  const both = await list({ ...filter, limit: "1", before_id: ids[9] ?? "", offset: "2" });

  expect((await ask("list-deliveries", {}, { webhook_id: other })).json?.meta?.total).toBe(1);
  expect(ids.toSorted()).toEqual(wanted.map(({ id }) => id).toSorted());
  expect([...idsOf(first), ...idsOf(second)]).toEqual(ids);
  expect([...idsOf(skipped), ...idsOf(both)]).toEqual([ids[108], ids[109], ids[12]]);
  expect([whole, first, skipped, second].map(({ json }) => json?.meta?.total)).toEqual([110, 110, 110, 111]);
  expect((await list({ before_id: newId("dlv") })).json?.error?.details?.[0]?.path).toBe("before_id");
  expect(dataOf<readonly Listed[]>(first)[0]?.["subject"]).toEqual(data);
  expect(dataOf<readonly Listed[]>(second)[0]).not.toHaveProperty("subject");
  const [broken] = dataOf<readonly Listed[]>(await list({ event: "sync.broken", subjects: "true", limit: "1" }));
  expect(broken?.["subject"]).toMatchObject({ sf_object: "Contact", table_name: null, record_id: null });
});

test("no list has a filter that is not tried here", async () => {
  const PAGING = ["limit", "offset", "before_id", "since", "format"];
  // Tried where the contract is, its kinds of failures are, mappings are listed, and rows are browsed.
  const ELSEWHERE = [
    ...["list-activity state", "list-activity table", "list-errors table", "list-failures fingerprint"],
    ...["list-mappings include", "list-mapping-states deleted"],
    ...["after", "column", "find", "sides", "sort", "state"].map((name) => `list-rows ${name}`),
  ];
  const tried = [
    ...FILTERS.flatMap(([list, query]) => Object.keys(query).map((name) => `${list} ${name}`)),
    ...["actor", "action", "from", "to"].map((name) => `list-audit-log ${name}`),
    ...["event", "status", "subjects"].map((name) => `list-deliveries ${name}`),
    ...ELSEWHERE,
  ];

  const filters = [...(await readEndpoints())]
    .filter(([name]) => name.startsWith("list-") && ROUTES[name].method === "GET")
    .flatMap(([name, { input }]) =>
      Object.keys((input?._zod.def as { shape?: object } | undefined)?.shape ?? {})
        .filter((parameter) => !PAGING.includes(parameter))
        .map((parameter) => `${name} ${parameter}`),
    );

  expect(filters.toSorted()).toEqual([...new Set(tried)].toSorted());
});
