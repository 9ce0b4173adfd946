import type { Client } from "pg";
import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { systemClock } from "../../../../lib/local/clock.ts";
import type { TableShape } from "../../../../lib/model/mapping/shape.ts";
import { type Figure, say, sum } from "../figures.ts";
import { type BenchOrg, control, type Database } from "./bench.ts";
import { cycleOf, provisionTable } from "./bench-mapping.ts";
import { CycleLoop } from "./cycle-loop.ts";
import { loadByCopy, loadByEngine } from "./load.ts";
import { updateByCollections } from "./plain-client.ts";
import { type Used, usedBy } from "./process-time.ts";
import type { SyncMeasure } from "./sizes.ts";

const POLL_SECONDS = 10;
/** Polls of the minute in which what was saved is asked for again, and one more. */
const POLLS = 7;
const FEW = 200;
const PULLED = 1_000;
const RECORDS = 10_000;

/** What a step took: processor time, statements, WAL, calls. */
type Cost = Used & { readonly calls: number };

/** A whole cycle of one side of the comparison; how many rows were accepted, and its calls. */
type Cycle = () => Promise<{ readonly accepted: number; readonly calls: number }>;

/** What one way took for a push, the minute after it, a pull, and minutes without any change. */
type Measured = Readonly<Record<"push" | "first" | "later" | "pull" | "quiet", Cost>>;

interface Stage extends Database {
  readonly org: BenchOrg;
  readonly stepped: { milliseconds: number };
}

/**
 * Whole cycles, from the lease to its end, and what they bring back, beside the loop that a user would write: a push of
 * few rows and of many, each with the minute after it, and a pull. The clocks are stepped from poll to poll.
 */
export const measureCycles: SyncMeasure = async (bench, { pushed }) => {
  const counts = [FEW, pushed];
  // The first object of each way is only there to run all code once.
  const names = ["Warm", ...counts.map((count) => `Push${count}`)].flatMap((name) => [`${name}B__c`, `${name}L__c`]);
  const org = await bench.createOrg(Object.fromEntries(names.map((name) => [name, Math.max(RECORDS, pushed)])));
  const stage = { org, ...(await bench.createDatabase()), stepped: { milliseconds: 0 } };
  for (const way of ["B", "L"] as const) await measure(stage, way, `Warm${way}__c`, FEW);
  const figures: Figure[] = [];
  for (const count of counts) {
    const bridge = await measure(stage, "B", `Push${count}B__c`, count);
    const loop = await measure(stage, "L", `Push${count}L__c`, count);
    figures.push(...figuresOf(count, bridge, loop));
  }
  return figures;
};

async function measure(stage: Stage, side: "B" | "L", object: string, count: number): Promise<Measured> {
  const { org, url, client, stepped } = stage;
  const shape = await provisionTable(url, org.connection, object, { captured: side === "B" });
  const cycle = side === "B" ? await bridge(stage, object, shape) : await loop(stage, object, shape);
  const polls = async (many: number): Promise<Cost> => {
    const costs: Cost[] = [];
    for (let poll = 0; poll < many; poll += 1) {
      stepped.milliseconds += POLL_SECONDS * 1000;
      await control(org, "POST", "clock", { advanceMilliseconds: POLL_SECONDS * 1000 });
      costs.push(await costOf(client, cycle));
    }
    return costs.reduce((all, one) => mapCost((name) => all[name] + one[name]));
  };
  await polls(POLLS);
  const quiet = await polls(POLLS);
  await client.query(`UPDATE salesforce.${shape.table} SET last__c = 'changed by the application' WHERE id <= $1`, [
    count,
  ]);
  const push = await costOf(client, async () => {
    let [accepted, calls] = [0, 0];
    // A job that takes long is left at work.
    while (accepted < count) {
      const done = await cycle();
      accepted += done.accepted;
      calls += done.calls;
    }
    return { accepted, calls };
  });
  const [first, later] = [await polls(1), await polls(POLLS - 1)];
  await polls(1);
  const { rows } = await client.query<{ sfid: string }>(
    `SELECT sfid FROM salesforce.${shape.table} ORDER BY id DESC LIMIT ${PULLED}`,
  );
  const changes = rows.map(({ sfid }) => ({ id: sfid, value: "changed in Salesforce" }));
  await updateByCollections(org, object, changes, "Title__c");
  say(object);
  return { push, first, later, pull: await polls(1), quiet };
}

async function costOf(client: Client, work: Cycle): Promise<Cost> {
  let calls = 0;
  const used = await usedBy(client, async () => {
    calls = (await work()).calls;
  });
  return { ...used, calls };
}

const UNITS = { client: "ms", postgres: "ms", statements: "", wal: "B", calls: "" } as const;
type Column = keyof typeof UNITS;
const COLUMNS = Object.keys(UNITS) as Column[];

const mapCost = (of: (column: Column) => number) =>
  Object.fromEntries(COLUMNS.map((column) => [column, of(column)])) as unknown as Cost;

/** Bridge's own cycles, whose sessions go from one to the next as on the host. */
async function bridge({ org, url, stepped }: Stage, object: string, shape: TableShape): Promise<Cycle> {
  await loadByEngine({ way: "engine", url, org: org.connection, object, shape });
  const clock = {
    ...systemClock,
    now: () => Date.now() + stepped.milliseconds,
    at: (at: number, run: () => void) => systemClock.at(at - stepped.milliseconds, run),
  };
  const openStore = createCycleStores(() => new Date(clock.now()));
  return async () => {
    const { accepted, calls } = await cycleOf(object, openStore({ url, schema: "salesforce" }), org.connection, {
      clock,
    });
    return { accepted, calls: sum(Object.values(calls)) };
  };
}

async function loop({ org, url, client }: Stage, object: string, shape: TableShape): Promise<Cycle> {
  await loadByCopy({ way: "copy", url, org: org.connection, object, shape });
  const own = new CycleLoop(client, org, shape);
  await own.capture();
  return async () => {
    const before = own.calls;
    await own.pull();
    const accepted = await own.push();
    return { accepted, calls: own.calls - before };
  };
}

function figuresOf(count: number, ours: Measured, theirs: Measured): Figure[] {
  const rows = count.toLocaleString("en");
  const names = {
    push: `push of ${rows} rows`,
    first: "  first pull after it",
    later: `  further ${POLLS - 1} polls`,
    pull: `pull of ${PULLED.toLocaleString("en")} records`,
    quiet: `${POLLS} polls without changes`,
  };
  const steps = Object.keys(names) as (keyof typeof names)[];
  /** Processor time beyond that of polls without any change. */
  const beyond = ({ client, postgres }: Cost, polls: number) =>
    client + postgres - ((ours.quiet.client + ours.quiet.postgres) * polls) / POLLS;
  const later = beyond(ours.later, POLLS - 1) / beyond(ours.push, 1);
  return [
    ...steps.flatMap((step) =>
      COLUMNS.flatMap((column) => [
        { name: `${names[step]}: ${column}`, value: ours[step][column], unit: UNITS[column] },
        { name: `${names[step]}: ${column} of the loop`, value: theirs[step][column], unit: UNITS[column] },
      ]),
    ),
    { name: `polls after the push of ${rows}, times the push`, value: later, unit: "×", atMost: 0.2 },
  ];
}
