import { Client } from "pg";
import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { FRESH_BUDGET } from "../../../../lib/model/calls/budget.ts";
import type { TableShape } from "../../../../lib/model/mapping/shape.ts";
import { runCycle } from "../../../../lib/sync/run-cycle.ts";
import { loadByCopy, loadByEngine } from "../load/load-ways.ts";
import { ALONE, ask, CLOCK } from "./alone.ts";
import type { BenchServer } from "./bench-database.ts";
import { benchMapping, provisionTable, salesforceOf } from "./bench-mapping.ts";
import { type BenchOrg, control, startBenchOrg } from "./bench-org.ts";
import { CycleLoop } from "./cycle-loop.ts";
import type { Figure, Sizes } from "./figure.ts";
import { between, type Used, usedSoFar } from "./process-time.ts";

const POLL_SECONDS = 10;
/** Polls of the minute in which what was saved is asked for again, and one more. */
const POLLS = 7;
const FEW = 200;
const PULLED = 1_000;
const RECORDS = 10_000;

/** What a step took: processor time, statements, WAL, calls. */
interface Cost extends Used {
  readonly calls: number;
}

/** One side of the comparison: its work in steps, each a whole one. */
interface Way {
  /** A whole cycle; gives how many rows were accepted, and its calls. */
  cycle(): Promise<{ readonly accepted: number; readonly calls: number }>;
}

/** What one way took for a push, the minute after it, a pull, and minutes without any change. */
interface Measured {
  readonly push: Cost;
  readonly first: Cost;
  readonly later: Cost;
  readonly pull: Cost;
  readonly quiet: Cost;
}

/**
 * Whole cycles, from the lease to its end, and what they bring back, beside the loop that a user would write: a push of
 * few rows and of many, each with the minute after it, and a pull. The clocks are stepped from poll to poll.
 */
export async function measureCycles(server: BenchServer, sizes: Sizes, say: (text: string) => void): Promise<Figure[]> {
  const counts = [FEW, sizes.pushed];
  // The first object of each way is only there to run all code once.
  const names = ["Warm", ...counts.map((count) => `Push${count}`)].flatMap((name) => [`${name}B__c`, `${name}L__c`]);
  const org = await startBenchOrg(Object.fromEntries(names.map((name) => [name, Math.max(RECORDS, sizes.pushed)])));
  const url = await server.createDatabase();
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    const stage = { org, url, client, say, stepped: { milliseconds: 0 } };
    for (const way of ["B", "L"] as const) await measure(stage, way, `Warm${way}__c`, FEW);
    const figures: Figure[] = [];
    for (const count of counts) {
      const bridge = await measure(stage, "B", `Push${count}B__c`, count);
      const loop = await measure(stage, "L", `Push${count}L__c`, count);
      figures.push(...figuresOf(count, bridge, loop));
    }
    return figures;
  } finally {
    await client.end();
    org.end();
  }
}

interface Stage {
  readonly org: BenchOrg;
  readonly url: string;
  readonly client: Client;
  readonly say: (text: string) => void;
  readonly stepped: { milliseconds: number };
}

async function measure(stage: Stage, side: "B" | "L", object: string, count: number): Promise<Measured> {
  const { org, url, client } = stage;
  const shape = await provisionTable(url, org.connection, object, { captured: side === "B" });
  const way = side === "B" ? await bridge(stage, object, shape) : await loop(stage, object, shape);
  const polls = async (many: number): Promise<Cost> => {
    const costs: Cost[] = [];
    for (let poll = 0; poll < many; poll += 1) {
      await step(stage, POLL_SECONDS);
      costs.push(await costOf(client, () => way.cycle()));
    }
    return costs.reduce(sum);
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
      const done = await way.cycle();
      accepted += done.accepted;
      calls += done.calls;
    }
    return { calls };
  });
  const [first, later] = [await polls(1), await polls(POLLS - 1)];
  await polls(1);
  await changeInSalesforce(stage, object, shape);
  const measured = { push, first, later, pull: await polls(1), quiet };
  stage.say(
    `${object}: ${JSON.stringify(measured, (_, value) => (typeof value === "number" ? Math.round(value) : value))}`,
  );
  return measured;
}

async function costOf(client: Client, work: () => Promise<{ readonly calls: number }>): Promise<Cost> {
  const before = await usedSoFar(client);
  const { calls } = await work();
  return { ...between(before, await usedSoFar(client)), calls };
}

const sum = (a: Cost, b: Cost): Cost => ({
  client: a.client + b.client,
  postgres: a.postgres + b.postgres,
  statements: a.statements + b.statements,
  wal: a.wal + b.wal,
  calls: a.calls + b.calls,
});

async function step({ org, stepped }: Stage, seconds: number): Promise<void> {
  stepped.milliseconds += seconds * 1000;
  await control(org, "POST", "clock", { advanceMilliseconds: seconds * 1000 });
}

/** One field of some records, by another client. */
async function changeInSalesforce({ org, client }: Stage, object: string, shape: TableShape): Promise<void> {
  const { rows } = await client.query<{ sfid: string }>(
    `SELECT sfid FROM salesforce.${shape.table} ORDER BY id DESC LIMIT ${PULLED}`,
  );
  for (let from = 0; from < rows.length; from += 200) {
    const records = rows
      .slice(from, from + 200)
      .map(({ sfid }) => ({ attributes: { type: object }, Id: sfid, Title__c: "changed in Salesforce" }));
    await ask(org.connection, "PATCH", "/composite/sobjects", { allOrNone: false, records });
  }
}

/** Bridge's own cycles, whose sessions go from one to the next as on the host. */
async function bridge({ org, url, stepped }: Stage, object: string, shape: TableShape): Promise<Way> {
  await loadByEngine({ way: "engine", url, org: org.connection, object, shape });
  const clock = {
    now: () => Date.now() + stepped.milliseconds,
    at: (at: number, run: () => void) => CLOCK.at(at - stepped.milliseconds, run),
  };
  const openStore = createCycleStores(() => new Date(clock.now()));
  const mapping = benchMapping(object);
  return {
    cycle: async () => {
      const store = openStore({ url, schema: "salesforce" });
      const salesforce = salesforceOf(org.connection);
      const report = await runCycle(
        { store, salesforce, shared: ALONE, clock, random: Math.random },
        {
          ...{
            mapping,
            kind: "poll",
            saves: "all",
            callSize: 200,
            hasToPull: null,
            highWater: [],
            rewoundAt: null,
            slot: null,
          },
          ...{ budget: FRESH_BUDGET, owner: "bench", deadline: clock.now() + 900_000 },
          writers: async () => [org.userId],
        },
      );
      await store.close();
      if (!report.ran || report.error) throw new Error("a cycle failed", { cause: report.ran ? report.error : report });
      const calls = Object.values(salesforce.calls()).reduce((all, one) => all + one, 0);
      return { accepted: report.tally.accepted, calls };
    },
  };
}

async function loop({ org, url, client }: Stage, object: string, shape: TableShape): Promise<Way> {
  await loadByCopy({ way: "copy", url, org: org.connection, object, shape });
  const own = new CycleLoop(client, org.connection, shape);
  await own.capture();
  return {
    cycle: async () => {
      const before = own.calls;
      await own.pull();
      const accepted = await own.push();
      return { accepted, calls: own.calls - before };
    },
  };
}

function figuresOf(count: number, ours: Measured, theirs: Measured): Figure[] {
  const rows = count.toLocaleString("en");
  /** What the polls took beyond polls without any change. */
  const beyond = (cost: Cost, quiet: Cost, polls: number) => ({
    time: cost.client + cost.postgres - ((quiet.client + quiet.postgres) * polls) / POLLS,
    calls: cost.calls - (quiet.calls * polls) / POLLS,
  });
  const push = beyond(ours.push, ours.quiet, 1).time;
  const [first, later] = [beyond(ours.first, ours.quiet, 1), beyond(ours.later, ours.quiet, POLLS - 1)];
  return [
    ...(["push", "first", "later", "pull", "quiet"] as const).flatMap((what) =>
      columns(what, rows, ours[what], theirs[what]),
    ),
    { name: `read back by the first pull, of the push of ${rows}`, value: first.time / push, unit: "×" },
    { name: "  and by the rest of the minute", value: later.time / push, unit: "×", atMost: 0.2 },
    { name: "  calls beyond the polls, first and rest", value: first.calls + later.calls, unit: "" },
  ];
}

const NAMES = {
  push: (rows: string) => `push of ${rows} rows`,
  first: () => "  first pull after it",
  later: () => `  further ${POLLS - 1} polls`,
  pull: () => `pull of ${PULLED.toLocaleString("en")} records`,
  quiet: () => `${POLLS} polls without changes`,
} as const;

function columns(what: keyof typeof NAMES, rows: string, ours: Cost, theirs: Cost): Figure[] {
  const name = NAMES[what](rows);
  return (["client", "postgres", "statements", "wal", "calls"] as const).flatMap((column) => [
    { name: `${name}: ${column}`, value: ours[column], unit: UNITS[column] },
    { name: `${name}: ${column} of the loop`, value: theirs[column], unit: UNITS[column] },
  ]);
}

const UNITS = { client: "ms", postgres: "ms", statements: "", wal: "B", calls: "" } as const;
