import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { readOptions } from "../../../lib/local/read-options.ts";
import { type Figure, percentile, report, say } from "./figures.ts";
import { type Bench, onBench } from "./sync/bench.ts";
import { provisionTable } from "./sync/bench-mapping.ts";
import { MAPPED, PLAIN, SITUATIONS, type Sides, type Situation } from "./writers/situations.ts";
import { KINDS, WRITERS_PROGRAM, type WritersOrder, type Written } from "./writers/writers-process.ts";

const HELP = `npm run bench:writers [-- --brief] [--only idle,upgrade] [--json]

What an application's single-row statements (UPDATE, INSERT, DELETE) take while Bridge works on their table: p99 and the
longest, beside the same statements on a table that Bridge does not know, in the same seconds. And the longest
wait for a lock of Bridge's; what Bridge did then goes to stderr. Five to ten minutes.

  --brief  a fifth of the rows: two to three minutes
  --only   some of the situations, those before them not measured:
           ${SITUATIONS.map(({ name }) => name).join(", ")}
  --json   the figures as JSON

Prints each figure with its bar, and ends with 1 when one is missed.`;

const options = readOptions(HELP, {
  brief: { type: "boolean", default: false },
  only: { type: "string", default: SITUATIONS.map(({ name }) => name).join(",") },
  json: { type: "boolean", default: false },
});

/** What a wait for Bridge may take, and what a statement may take beside it. */
const LONGEST_WAIT_MILLISECONDS = 200;
const MOST_TIMES_PLAIN = 2;
const AROUND_MILLISECONDS = 2_000;

const only = options.only.split(",");
const unknown = only.find((name) => SITUATIONS.every((one) => one.name !== name));
if (unknown !== undefined) throw new Error(`there is no situation ${unknown}`);
const rows = options.brief ? 4_000 : 20_000;
await onBench(async (bench) => {
  const sides = await prepare(bench);
  const figures: Figure[] = [];
  for (const situation of SITUATIONS) {
    await situation.prepare?.(sides);
    if (only.includes(situation.name)) {
      const written = await measure(sides, situation);
      figures.push(...figuresOf(situation.name, written));
      for (const [statement, longest] of Object.entries(written.behind))
        say(`${longest.toFixed(0)} ms at the longest behind ${statement}`);
    } else await situation.run(sides);
    say(situation.name);
  }
  report(figures, options);
});

/** Both tables with the same rows; a third of the org's records are to meet those of the mapped one. */
async function prepare({ createDatabase, createOrg }: Bench): Promise<Sides> {
  const org = await createOrg({ [PLAIN]: 0, [MAPPED]: 3 * rows });
  const { url, client } = await createDatabase();
  await provisionTable(url, org.connection, PLAIN, { captured: false });
  const shape = await provisionTable(url, org.connection, MAPPED, { captured: false });
  for (const table of [PLAIN, MAPPED])
    await client.query(
      `INSERT INTO salesforce.${table} (name, key__c, first__c, last__c, title__c)
       SELECT 'Name ' || n, 'K-' || n, 'First ' || n, 'Last ' || n, 'Title ' || n FROM generate_series(1, ${rows}) n`,
    );
  await client.query("VACUUM ANALYZE");
  return { url, client, org, shape, rows, seconds: options.brief ? 4 : 15 };
}

/** Lets the writers write while Bridge works, and some seconds before and after. */
async function measure(sides: Sides, { run }: Situation): Promise<Written> {
  const order: WritersOrder = { url: sides.url, tables: [PLAIN, MAPPED], rows: sides.rows };
  const child = fork(WRITERS_PROGRAM, [JSON.stringify(order)]);
  try {
    await once(child, "message"); // they are connected
    await pause(AROUND_MILLISECONDS);
    await run(sides);
    await pause(AROUND_MILLISECONDS);
    child.send("over");
    return (await once(child, "message"))[0] as Written;
  } finally {
    child.kill();
  }
}

function figuresOf(situation: string, { plain, mapped, behind }: Written): Figure[] {
  const all = (of: Written["plain"]) => KINDS.flatMap((kind) => of[kind]);
  const times = percentile(all(mapped), 99) / percentile(all(plain), 99);
  const longest = Math.max(0, ...Object.values(behind));
  return [
    { name: `${situation}: statements on each table`, value: all(mapped).length, unit: "" },
    { name: "  p99 of all, times that without Bridge", value: times, unit: "×", atMost: MOST_TIMES_PLAIN },
    { name: "  longest wait for a lock of Bridge's", value: longest, unit: "ms", atMost: LONGEST_WAIT_MILLISECONDS },
    { name: "  UPDATE, p99", value: percentile(mapped.UPDATE, 99), unit: "ms" },
    { name: "    without Bridge", value: percentile(plain.UPDATE, 99), unit: "ms" },
    { name: "  longest statement", value: Math.max(...all(mapped)), unit: "ms" },
    { name: "    without Bridge", value: Math.max(...all(plain)), unit: "ms" },
  ];
}
