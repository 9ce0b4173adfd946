/** A line of lib/infra/OUTAGES.md. */
export interface OutageLine {
  readonly outage: string;
  readonly alarm: string;
  readonly section: string;
  readonly minutes: number;
  readonly isBroken: boolean;
}

/** Reads the page's table; throws on a line that is not whole. */
export function readOutages(page: string): readonly OutageLine[] {
  const lines = page.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| what breaks"));
  return lines.map((line) => {
    const found = /^\| (.+) \| \[([\w-]+)\]\(RUNBOOK\.md#([\w-]+)\) \| (\d+) \| (broken|evaluated) \|$/.exec(line);
    if (!found) throw new Error(`not a line of an outage: ${line}`);
    const [, outage = "", alarm = "", section = "", minutes, tried] = found;
    return { outage, alarm, section, minutes: Number(minutes), isBroken: tried === "broken" };
  });
}
