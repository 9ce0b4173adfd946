import { type Counts, countsOf, sumOf, totalOf } from "./counts.ts";
import type { Proof } from "./run-proof.ts";

/** Kills and changes of several rounds. */
export const killsIn = (proofs: readonly Proof[]): number => totalOf(sumOf(proofs.map(({ kills }) => kills)));
export const changesIn = (proofs: readonly Proof[]): number => totalOf(sumOf(proofs.map(({ changes }) => changes)));

/** The summary for people, of one round or several. */
export function summaryOf(proofs: readonly Proof[]): string {
  const sum = (of: (proof: Proof) => number) => proofs.reduce((all, proof) => all + of(proof), 0);
  const sums = (of: (proof: Proof) => Counts) => sumOf(proofs.map(of));
  const [kills, stops] = [sums((proof) => proof.kills), sums((proof) => proof.stops)];
  const changes = sums((proof) => proof.changes);
  const [engine, wire] = [sums(({ calls }) => calls.engine), sums(({ calls }) => calls.wire)];
  const labels = Object.keys({ ...engine, ...wire }).sort();
  const calls = labels.map((label) => `${label} ${engine[label] ?? 0} (wire ${wire[label] ?? 0})`).join(", ");
  const findings = proofs.flatMap((proof) => proof.findings.map((finding) => ({ ...finding, seed: proof.seed })));
  const counted = listOf(countsOf(findings.map(({ name }) => name)));
  return [
    "",
    "kills stops  where",
    ...Object.keys({ ...kills, ...stops })
      .sort()
      .map((point) => `${pad(kills[point] ?? 0)} ${pad(stops[point] ?? 0)}  ${point}`),
    "",
    `rounds    ${proofs.map(({ seed, seconds }) => `seed ${seed} in ${seconds} s`).join(", ")}`,
    `changes   ${changes["application"]} by the application, ${changes["colleagues"]} in Salesforce`,
    `incidents ${totalOf(kills)} kills, ${totalOf(stops)} stops, ${sum(({ heldSaves }) => heldSaves)} saves held between check and send, ${sum(({ lateSavesReported }) => lateSavesReported)} cycles whose saves came too late`,
    `migrations ${listOf(sums(({ migrations }) => migrations))}`,
    `doorbells ${listOf(sums(({ doorbells }) => doorbells))}`,
    `calls     ${calls}, org ${sum((proof) => proof.calls.org)} in all, while nothing was killed`,
    `in doubt  ${sum(({ settledByHand }) => settledByHand)} rows ended FAILED as in doubt, and were settled by hand as their error says`,
    ...proofs.flatMap(({ restored }) =>
      restored.map(
        ({ what, undone, decided }) =>
          `restored  ${what}: ${undone} changes of the application went with it, ${decided} waited for a person`,
      ),
    ),
    ...findings
      .slice(0, 20)
      .flatMap(({ name, table, tag, what, story, seed }) => [
        `\n${name.toUpperCase()} ${table} ${tag}: ${what} (seed ${seed})`,
        ...story.map((line) => `  ${line}`),
      ]),
    "",
    findings.length === 0
      ? "nothing lost, nothing doubled, nothing unexplained"
      : `${findings.length} findings: ${counted}`,
  ].join("\n");
}

const listOf = (counts: Counts) =>
  Object.entries(counts)
    .map(([kind, times]) => `${times} ${kind}`)
    .join(", ");

const pad = (count: number) => String(count).padStart(5);
