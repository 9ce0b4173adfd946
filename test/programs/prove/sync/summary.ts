import { type Round, totalsOf } from "./rounds.ts";
import type { Proof } from "./run-proof.ts";

/** The summary for people. */
export function summaryOf({
  seed,
  seconds,
  changes,
  incidents,
  calls,
  doorbells,
  migrations,
  heldSaves,
  lateSavesReported,
  settledByHand,
  restored,
  findings,
}: Proof): string {
  const all = (what: "kills" | "stops") => Object.values(incidents).reduce((sum, one) => sum + one[what], 0);
  const labels = Object.keys({ ...calls.engine, ...calls.wire }).sort();
  return [
    ...tableOf(incidents),
    `changes   ${changes.application} by the application, ${changes.colleagues} in Salesforce`,
    `incidents ${all("kills")} kills, ${all("stops")} stops, ${heldSaves} saves held between check and send, ${lateSavesReported} cycles whose saves came too late`,
    `migrations ${listOf(migrations)}`,
    `doorbells ${listOf(doorbells)}`,
    `calls     ${labels.map((label) => `${label} ${calls.engine[label] ?? 0} (wire ${calls.wire[label] ?? 0})`).join(", ")}, org ${calls.org} in all, while nothing was killed`,
    `in doubt  ${settledByHand} rows ended FAILED as in doubt, and were settled by hand as their error says`,
    ...restored.map(
      ({ what, undone, decided }) =>
        `restored  ${what}: ${undone} changes of the application went with it, ${decided} waited for a person`,
    ),
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

/** The summary of several rounds. */
export function summaryOfRounds(rounds: readonly Round[]): string {
  const sums: Record<string, { kills: number; stops: number }> = {};
  for (const [point, { kills, stops }] of rounds.flatMap(({ incidents }) => Object.entries(incidents))) {
    const before = sums[point] ?? { kills: 0, stops: 0 };
    sums[point] = { kills: before.kills + kills, stops: before.stops + stops };
  }
  const sum = (of: (round: Round) => number) => rounds.reduce((all, round) => all + of(round), 0);
  const findings = rounds.flatMap((round) => round.findings.map((finding) => ({ ...finding, seed: round.seed })));
  return [
    ...tableOf(sums),
    `rounds    ${totalsOf(rounds)}, in ${sum(({ seconds }) => seconds)} s`,
    `saves     ${sum(({ heldSaves }) => heldSaves)} held between check and send, ${sum(({ lateSavesReported }) => lateSavesReported)} cycles whose saves came too late`,
    `in doubt  ${sum(({ settledByHand }) => settledByHand)} rows ended FAILED as in doubt, and were settled by hand as their error says`,
    ...findings.map(
      ({ name, table, tag, what, seed }) => `${name}: ${table} ${tag} ${what} (--thorough --seed ${seed})`,
    ),
    "",
    findings.length === 0 ? "nothing lost, nothing doubled, nothing unexplained" : `${findings.length} findings`,
  ].join("\n");
}

function tableOf(incidents: Proof["incidents"]): string[] {
  const rows = Object.entries(incidents)
    .sort()
    .map(([point, { kills, stops }]) => `${pad(kills)} ${pad(stops)}  ${point}`);
  return ["", "kills stops  where", ...rows, ""];
}

const listOf = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .map(([kind, times]) => `${times} ${kind}`)
    .join(", ");

function countsOf(names: readonly string[]): string {
  return [...Map.groupBy(names, (name) => name)].map(([name, all]) => `${all.length} ${name}`).join(", ");
}

const pad = (count: number) => String(count).padStart(5);
