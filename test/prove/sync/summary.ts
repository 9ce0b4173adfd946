import type { Proof } from "./run-proof.ts";

/** The summary for people. */
export function summaryOf({
  seed,
  seconds,
  changes,
  incidents,
  calls,
  heldSaves,
  lateSavesTold,
  settledByHand,
  findings,
}: Proof): string {
  const rows = Object.entries(incidents)
    .sort()
    .map(([point, { kills, stops }]) => `${pad(kills)} ${pad(stops)}  ${point}`);
  const all = (what: "kills" | "stops") => Object.values(incidents).reduce((sum, one) => sum + one[what], 0);
  const labels = Object.keys({ ...calls.engine, ...calls.wire }).sort();
  return [
    "",
    "kills stops  where",
    ...rows,
    "",
    `changes   ${changes.application} by the application, ${changes.colleagues} in Salesforce`,
    `incidents ${all("kills")} kills, ${all("stops")} stops, ${heldSaves} saves held between check and send, ${lateSavesTold} cycles told that theirs came too late`,
    `calls     ${labels.map((label) => `${label} ${calls.engine[label] ?? 0} (wire ${calls.wire[label] ?? 0})`).join(", ")}, org ${calls.org} in all, while nothing was killed`,
    `doubts    ${settledByHand} rows ended FAILED as in doubt, and were settled by hand as their error says`,
    ...findings
      .slice(0, 20)
      .flatMap(({ name, table, tag, what, story }) => [
        `\n${name.toUpperCase()} ${table} ${tag}: ${what}`,
        ...story.map((line) => `  ${line}`),
      ]),
    "",
    `${findings.length === 0 ? "nothing lost, nothing doubled, nothing unexplained" : `${findings.length} findings: ${countsOf(findings.map(({ name }) => name))}`} in ${seconds} s (seed ${seed})`,
  ].join("\n");
}

function countsOf(names: readonly string[]): string {
  return [...Map.groupBy(names, (name) => name)].map(([name, all]) => `${all.length} ${name}`).join(", ");
}

const pad = (count: number) => String(count).padStart(5);
