import { readOptions } from "../../../lib/local/read-options.ts";
import { QUEUES } from "../../../lib/model/resources.ts";
import { apart } from "./apart.ts";
import { type Bill, fixedCosts, monthOf, SERVICES, together, total } from "./cost/bill.ts";
import { DISTANCES } from "./cost/far-side.ts";
import { type Measured, SIMULATION, type Used } from "./cost/simulate.ts";
import { type Figure, report, say } from "./figures.ts";

const HELP = `npm run bench:cost [-- --minutes 5] [--rows 10] [--json]

What a mapping costs a month on AWS, in dollars and by service. The deployed bundles run on a clock that is moved by hand,
with the real distances to everything (Salesforce ${DISTANCES.salesforce} ms, PostgreSQL ${DISTANCES.postgresConnect} ms to connect and ${DISTANCES.postgres} ms a trip, DynamoDB ${DISTANCES.dynamodb} ms),
one call at a time; what they take is multiplied by the prices of bench/cost/bill.ts. Calls and their times go to stderr.

  --minutes  simulated minutes of each stretch; 5 hold one of everything but what happens once a day, which is
             measured alone
  --rows     rows that a busy mapping gets each minute
  --json     the figures as JSON

What a deployment costs however much it does (polls of idle queues, its key) is shared out among its mappings. Alarms and
the dashboard, a stack that can be left out, are not in it, nor Lambda's own log lines, which are off unless asked for.
Fails when an idle mapping among 100 or 10,000 costs more than its limit.`;

/** What an idle mapping may cost a month on the ten-second beat, by how many a deployment has. */
const MOST_DOLLARS: Readonly<Record<number, number>> = { 100: 0.12, 10000: 0.08 };

const options = readOptions(HELP, {
  minutes: { type: "string", default: "5" },
  rows: { type: "string", default: "10" },
  json: { type: "boolean", default: false },
});

const months = { 1: await measured(1), 100: await measured(100) };
const fixed = fixedCosts(Object.keys(QUEUES).length);
const deployments = [
  { name: "1 mapping", workspaces: 1, each: 1 },
  { name: "100 mappings of a workspace", workspaces: 1, each: 100 },
  { name: "10,000 mappings, 100 a workspace", workspaces: 100, each: 100 },
] as const;
const figures = deployments.flatMap(({ name, workspaces, each }) =>
  (["idle", "busy"] as const).flatMap((load): Figure[] => {
    const mappings = workspaces * each;
    const bill = together(workspaces, months[each][load], fixed);
    const atMost = load === "idle" ? MOST_DOLLARS[mappings] : undefined;
    const value = total(bill) / mappings;
    return [
      { name: `${name}, ${load}: dollars a mapping and month`, value, unit: "$", ...(atMost && { atMost }) },
      ...SERVICES.map((service) => ({ name: `  ${service}`, value: bill[service] / mappings, unit: "$" })),
    ];
  }),
);
report(figures, options);

async function measured(mappings: number): Promise<Readonly<Record<"idle" | "busy", Bill>>> {
  const found = await apart<Measured>(SIMULATION, [String(mappings), options.minutes, options.rows]);
  tell(`${mappings} mappings, idle`, found.idle);
  tell(`${mappings} mappings, busy`, found.busy);
  const day = monthOf(found.day);
  return { idle: together(1, monthOf(found.idle), day), busy: together(1, monthOf(found.busy), day) };
}

/** The figures behind the dollars. */
function tell(name: string, { functions }: Used): void {
  say(name);
  for (const [name, { calls, records, milliseconds, processorMilliseconds }] of Object.entries(functions))
    say(
      `  ${name}: ${calls} calls of ${(records / calls).toFixed(1)} messages, ` +
        `${(milliseconds / calls).toFixed(0)} ms each, ${(processorMilliseconds / calls).toFixed(1)} ms of processor`,
    );
}
