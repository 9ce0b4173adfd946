import type { ReadThroughputData } from "bridge/api";
import { clock, count } from "../../parts/words.ts";

type Step = ReadThroughputData["mappings"][number]["steps"][number];

interface CycleStripProps {
  readonly throughput: ReadThroughputData;
  /** Those of one mapping. */
  readonly steps: readonly Step[];
}

/** Each minute as a mark: cycles failed, none did, or none ended. */
export function CycleStrip({ throughput, steps }: CycleStripProps) {
  const first = Date.parse(throughput.from);
  const step = throughput.step_seconds * 1000;
  const byTime = new Map(steps.map((one) => [Date.parse(one.at), one]));
  const marks = Array.from({ length: Math.floor((Date.parse(throughput.to) - first) / step) + 1 }, (_, index) => {
    const at = first + index * step;
    const found = byTime.get(at);
    return { at, found, tone: toneOf(found) };
  });
  return (
    <span className="strip slim cycles" role="img" aria-label={inWords(steps)}>
      {marks.map(({ at, found, tone }) => (
        <i key={at} className={tone} title={`${clock(new Date(at))}: ${found ? wordsOf([found]) : "no cycle ended"}`} />
      ))}
    </span>
  );
}

function toneOf(step: Step | undefined): "bad" | "good" | "none" {
  if (!step) return "none";
  const { well, failed, stopped } = step.cycles;
  if (failed > 0) return "bad";
  return well + stopped > 0 ? "good" : "none";
}

/** What the strip shows, with the time of the last failure. */
function inWords(steps: readonly Step[]): string {
  const failed = steps.findLast(({ cycles }) => cycles.failed > 0);
  return `Cycles: ${wordsOf(steps)}${failed ? `; the last failure in the minute from ${clock(failed.at)}` : ""}`;
}

function wordsOf(steps: readonly Step[]): string {
  const total = (ended: "well" | "failed" | "stopped") => steps.reduce((sum, { cycles }) => sum + cycles[ended], 0);
  const stopped = total("stopped");
  return `${count(total("well"))} went well, ${count(total("failed"))} failed${stopped > 0 ? `, ${count(stopped)} stopped early` : ""}`;
}
