import { GetCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, expect, test } from "vitest";
import { auditLog, database, now } from "../../functions/services/composition.ts";
import { createTestClock } from "../../lib/local/clock.ts";
import { newId } from "../../lib/model/id.ts";
import type { AuditAction } from "../../lib/model/workspace/audit.ts";
import { askingIn } from "../support/clients/ask.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";

/**
 * One log that four versions have written: 0.2, whose entries have neither their places in their ids nor a
 * `resource_type`, 0.3, this one, and a newer one, from which an operator went back and whose actions this one does not
 * know. In the middle two of them write side by side, as during an upgrade.
 */
const VERSIONS = [
  ...Array<Version>(9).fill("0.2"),
  ...Array<Version>(6).fill("0.3"),
  ...Array<readonly Version[]>(4).fill(["0.3", "this"]).flat(),
  ...Array<readonly Version[]>(3).fill(["newer", "this"]).flat(),
];
type Version = "0.2" | "0.3" | "this" | "newer";

interface Made {
  readonly id: string;
  readonly actor: string;
  readonly action: string;
  readonly resource_type: string;
  readonly resource_id: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly created_at: string;
}

type Query = Readonly<Record<string, string>>;

let cloud: BridgeCloud;
let workspace: TestWorkspace;
/** Newest first, as the log has them; the oldest two are those of the workspace itself and of its token. */
let log: readonly Made[];
beforeAll(async () => {
  process.env["RATE_LIMIT_PER_MINUTE"] = "1000000";
  cloud = await startBridgeCloud({ clock: createTestClock(new Date()) });
  workspace = await createTestWorkspace();
  for (const [at, version] of VERSIONS.entries()) {
    await write(version, at);
    await cloud.clock.advance({ minutes: 10 });
  }
  log = dataOf<readonly Made[]>(await ask({ limit: "500" }));
}, 60_000);
afterAll(async () => {
  delete process.env["RATE_LIMIT_PER_MINUTE"];
  await cloud.close();
});

const ask = (query: Query, of = workspace) => askingIn(() => of)("list-audit-log", { query });

const actorAt = (at: number) => (at % 3 === 0 ? "ada@example.com" : "eva@example.com");

async function write(version: Version, at: number): Promise<void> {
  const action = at % 2 === 0 ? "rows.retried" : "token.created";
  const made = { id: newId("aud"), actor: actorAt(at), resource_id: `r${at}`, detail: { at } };
  if (version === "newer") await put({ ...made, action: "mapping.tilted", resource_type: "mapping" }, true);
  else if (version === "0.3") await put({ ...made, action, resource_type: TYPES[action] }, true);
  else if (version === "0.2") await put({ ...made, action }, false);
  else {
    const { resource_id: resourceId, ...same } = made;
    await auditLog().append({ ...same, workspaceId: workspace.id, action, resourceId, createdAt: now() });
  }
}

const TYPES = { "rows.retried": "mapping", "token.created": "token" } as const satisfies Partial<
  Record<AuditAction, string>
>;

/** Puts an entry as another version does, under the next number of each of its four partitions. */
async function put(made: Omit<Made, "resource_type" | "created_at"> & Partial<Made>, isPlaced: boolean): Promise<void> {
  const TableName = database().table("audit");
  const documents = cloud.clients.documents;
  const [actor, action] = [`actor#${encodeURIComponent(made.actor)}`, `action#${made.action}`];
  const counters = [[], [actor], [action], [action, actor]].map(async (filters) => {
    const Key = { pk: [workspace.id, ...filters].join("#"), sk: "counter" };
    return { ...Key, ...(await documents.send(new GetCommand({ TableName, Key }))).Item };
  });
  const expires_at = Math.floor(now().getTime() / 1000) + 400 * 86_400;
  const raised = (await Promise.all(counters)).map((counter: { pk: string; entries?: number }) => ({
    ...{ first: 1, first_expires_at: expires_at, ...counter, entries: (counter.entries ?? 0) + 1 },
    ...(isPlaced && { last_expires_at: expires_at }),
  }));
  const places = isPlaced ? raised.map(({ entries }) => `.${entries.toString(36)}`).join("") : "";
  const created_at = now().toISOString();
  const entry = JSON.stringify({ ...made, id: made.id + places, created_at, workspace_id: workspace.id });
  for (const counter of raised) {
    const sk = String(counter.entries).padStart(12, "0");
    await documents.send(new PutCommand({ TableName, Item: { pk: counter.pk, sk, entry, expires_at } }));
    await documents.send(new PutCommand({ TableName, Item: { ...counter, sk: "counter" } }));
  }
}

/** Every actor with every action, without times and with some; times are cut between two entries, and at one. */
function queries(): readonly Query[] {
  const timeAt = (at: number, minutes: number) =>
    new Date(Date.parse(log.at(-1 - at)?.created_at ?? "") + minutes * 60_000).toISOString();
  const [from, to] = [timeAt(5, -5), timeAt(24, 0)];
  const times: readonly Query[] = [{ from }, { to }, { from, to }];
  const actors = ["ada@example.com", "eva@example.com", "nobody@example.com"].map((actor): Query => ({ actor }));
  const actions = ["rows.retried", "token.created", "mapping.tilted"].map((action): Query => ({ action }));
  return [{}, ...actors].flatMap((actor, row) =>
    [{}, ...actions].flatMap((action, column) =>
      [{}, times[(row + column) % times.length]].map((time) => ({ ...actor, ...action, ...time })),
    ),
  );
}

const matches = ({ actor, action, from = "", to = "9" }: Query, entry: Made) =>
  entry.actor === (actor ?? entry.actor) &&
  entry.action === (action ?? entry.action) &&
  entry.created_at >= from &&
  entry.created_at < to;

test("entries of every version are listed once, newest first, as they were written", () => {
  const written = log.toReversed().slice(2);
  expect(written.map(({ resource_id }) => resource_id)).toEqual(VERSIONS.map((_, at) => `r${at}`));
  for (const [at, entry] of written.entries()) {
    const isNewer = VERSIONS[at] === "newer";
    const action = at % 2 === 0 ? "rows.retried" : "token.created";
    expect(entry).toMatchObject({ actor: actorAt(at), detail: { at }, action: isNewer ? "mapping.tilted" : action });
    expect(entry.resource_type).toBe(isNewer ? "mapping" : TYPES[action]);
  }
});

test("under every filter, pages by offset, pages by before_id and the CSV hold the same entries, with the exact total", async () => {
  for (const query of queries()) {
    const name = JSON.stringify(query);
    const wanted = log.filter((entry) => matches(query, entry));
    const ids = wanted.map(({ id }) => id);
    const page = async (more: Query) => {
      const { status, json } = await ask({ ...query, ...more });
      expect.soft([status, json?.meta?.total], `${name} ${JSON.stringify(more)}`).toEqual([200, ids.length]);
      return (json?.data ?? []) as readonly Made[];
    };
    const byOffset: Made[] = [];
    for (let offset = 0; offset <= ids.length; offset += 7) {
      byOffset.push(...(await page({ limit: "7", offset: String(offset) })));
    }
    const byId: Made[] = [];
    for (let last: readonly Made[] = await page({ limit: "7" }); last.length > 0; ) {
      byId.push(...last);
      last = await page({ limit: "7", before_id: last.at(-1)?.id ?? "" });
    }
    const csv = await ask({ ...query, format: "csv" });

    expect.soft(byOffset, name).toEqual(wanted);
    expect.soft(byId, name).toEqual(wanted);
    const rows: string[][] = parse(csv.text, { record_delimiter: "\r\n" }).slice(1);
    const columns = wanted.map((one) => [
      ...[one.id, one.created_at, one.actor, one.action, one.resource_type, one.resource_id],
      JSON.stringify(one.detail),
    ]);
    expect.soft(rows, name).toEqual(columns);
  }
});

test("the CSV continues behind before_id as pages do", async () => {
  const { text } = await ask({ format: "csv", before_id: log[4]?.id ?? "" });

  const rows: string[][] = parse(text, { record_delimiter: "\r\n" }).slice(1);
  expect(rows.map(([id]) => id)).toEqual(log.slice(5).map(({ id }) => id));
  const { json } = await ask({ before_id: log[4]?.id ?? "", to: log[9]?.created_at ?? "", limit: "3" });
  expect(json?.data).toEqual(log.slice(10, 13));
});

test("a before_id that the list does not have is refused: another actor's or action's, another workspace's, an invented one", async () => {
  const [others = { id: "" }] = dataOf<readonly Made[]>(await ask({}, await createTestWorkspace()));
  const idOf = (actor: string, action: string) =>
    log.find((entry) => entry.actor === actor && entry.action === action)?.id ?? "";
  const filter = { actor: "eva@example.com", action: "rows.retried" };
  const strange = [idOf("ada@example.com", "rows.retried"), idOf("eva@example.com", "token.created"), others.id];

  for (const before_id of [...strange, "aud_1", "aud_1.1.1.1.1", "aud_1.zz.zz.zz.zz", `${log[0]?.id}.1`]) {
    for (const format of ["json", "csv"]) {
      const { status, json } = await ask({ ...filter, format, before_id });
      expect([before_id, status, json?.error?.details?.[0]?.path]).toEqual([before_id, 400, "before_id"]);
    }
  }
});
