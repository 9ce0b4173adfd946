import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { counters, database } from "../../functions/services/composition.ts";
import { METRICS_PAGE, metricsPages } from "../../lib/adapters/dynamodb/engine/metrics-page.ts";
import { scraper } from "../../lib/metrics/scrape.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";

const AT = new Date("2026-11-28T12:00:00Z");
const after = (milliseconds: number) => new Date(AT.getTime() + milliseconds);

let cloud: BridgeCloud;
beforeAll(async () => {
  cloud = await startBridgeCloud();
});
afterAll(() => cloud.close());
beforeEach(async () => {
  for (const sk of ["page", "claim"])
    await database().client.send(
      new DeleteCommand({ TableName: database().table("counters"), Key: { ...METRICS_PAGE, sk } }),
    );
});

const put = (content: object) =>
  database().client.send(
    new PutCommand({ TableName: database().table("counters"), Item: { ...METRICS_PAGE, ...content } }),
  );

/** A process of a deployment with so many mappings, and how often it has read the items of all. */
function processWith(mappings: number) {
  const fresh = { workspaceId: "ws_1", rowsFailed: 0, apiCalls: {} };
  const totals = Array.from({ length: mappings }, (_, at) => ({
    ...{ ...fresh, mappingId: `map_${at}`, sfObject: `Object${at}__c`, rowsSynced: at },
  }));
  const readAll = vi.fn(async () => ({ totals, depths: [], calls: [], pauses: [] }));
  const scrape = scraper({ readAll }, { readAll: async () => new Map() }, metricsPages(database()));
  return { scrape, readAll };
}

test("processes share one page: the items of all mappings are read once for all", async () => {
  const [one, other] = [processWith(3), processWith(3)];

  const text = await one.scrape(AT);
  expect(await other.scrape(after(4_000))).toBe(text);

  expect(text).toContain('bridge_sync_rows_total{workspace_id="ws_1",object="Object2__c"} 2');
  expect([one.readAll.mock.calls.length, other.readAll.mock.calls.length]).toEqual([1, 0]);
  const series = Object.values(await counters().readAll()).flat() as readonly { readonly workspaceId: string }[];
  expect(series.filter(({ workspaceId }) => workspaceId.startsWith("service"))).toEqual([]);
});

test.each([
  ["a few mappings", 3, 5_014, 5_016],
  ["ten thousand", 10_000, 54_999, 55_001],
])("with %s a page is read again as soon as it is too old, and not before", async (_, mappings, fresh, stale) => {
  const [one, other, third] = [processWith(mappings), processWith(mappings), processWith(mappings)];

  const text = await one.scrape(AT);
  await other.scrape(after(fresh));
  await third.scrape(after(stale));
  await one.scrape(after(stale + 1));

  expect(other.readAll).not.toHaveBeenCalled();
  expect(third.readAll).toHaveBeenCalledOnce();
  expect(one.readAll).toHaveBeenCalledOnce();
  expect((await metricsPages(database()).read())?.text).toBe(text);
});

test("of many processes that find the page too old one reads the items, and the others show the page before", async () => {
  const text = await processWith(3).scrape(AT);
  const [first, ...others] = Array.from({ length: 10 }, () => processWith(4));

  const shown = await Promise.all([first, ...others].map((one) => one?.scrape(after(6_000))));

  expect([first, ...others].filter((one) => one?.readAll.mock.calls.length === 1)).toHaveLength(1);
  expect(shown.filter((one) => one === text)).toHaveLength(9);
});

test("a page that comes late does not replace a newer one, whose counters have risen", async () => {
  const pages = metricsPages(database());
  await pages.keep({ text: "newer", at: after(1_000), mappings: 1 });

  await pages.keep({ text: "older", at: AT, mappings: 1 });
  expect((await pages.read())?.text).toBe("newer");
});

test("where the page cannot be read each process has its own, and a claim that is stuck is taken over", async () => {
  const { scrape, readAll } = processWith(3);
  const pages = metricsPages(database());
  expect(await pages.claim(AT)).toBe(true);
  expect(await pages.claim(after(4_999))).toBe(false);
  expect(await pages.claim(after(5_000))).toBe(true);

  expect(await scrape(after(5_001))).toContain("bridge_build_info");
  expect(readAll).toHaveBeenCalledOnce();
});

test.each([
  ["a page of a clock that is far ahead", { text: new Uint8Array(), at: after(3_600_000).getTime(), mappings: 3 }],
  ["a page that cannot be read", { text: new Uint8Array([1, 2, 3]), at: AT.getTime(), mappings: 3 }],
  ["a page of another shape", { text: "bridge 1", at: AT.getTime(), mappings: 3 }],
])("%s is written again", async (_, kept) => {
  vi.spyOn(console, "error").mockReturnValue();
  await put(kept);
  const { scrape, readAll } = processWith(3);

  expect(await scrape(AT)).toContain("bridge_build_info");
  expect(readAll).toHaveBeenCalledOnce();
});

test.each(["read", "claim", "keep"] as const)(
  "where %s of the page is refused the metrics are there, and the log says so",
  async (broken) => {
    const said = vi.spyOn(console, "error").mockReturnValue();
    const refused = () => Promise.reject(new Error("AccessDenied"));
    const counted = { readAll: async () => ({ totals: [], depths: [], calls: [], pauses: [] }) };
    const pages = { ...metricsPages(database()), [broken]: refused };

    expect(await scraper(counted, { readAll: async () => new Map() }, pages)(AT)).toContain("bridge_build_info");
    expect(said.mock.calls.flat().map(String).join()).toMatch(/"event":"metrics page".*AccessDenied/);
    said.mockRestore();
  },
);
