/** A metric as a scraper reads it. */
export interface ScrapedMetric {
  readonly name: string;
  readonly type: string;
  readonly samples: Sample[];
}

interface Sample {
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly value: number;
}

/**
 * Reads the text format 0.0.4 by its own grammar, one character after the other, and throws where a scraper would: a
 * line that is not ended, HELP or TYPE twice or after samples, a metric in two places, an escape that does not exist.
 */
export function parseExposition(text: string): ScrapedMetric[] {
  if (text !== "" && !text.endsWith("\n")) throw new Error("the last line is not ended");
  const metrics: ScrapedMetric[] = [];
  const helped = new Set<string>();
  for (const line of text.split("\n").slice(0, -1)) {
    const [, keyword, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === "HELP") {
      if (helped.has(name)) throw new Error(`HELP twice: ${line}`);
      helped.add(name);
    } else if (keyword === "TYPE") {
      if (metrics.some((metric) => metric.name === name)) throw new Error(`TYPE twice: ${line}`);
      metrics.push({ name, type: rest, samples: [] });
    } else {
      addSample(metrics, line);
    }
  }
  return metrics;
}

function addSample(metrics: ScrapedMetric[], line: string): void {
  const sample = readSample(line);
  const metric = metrics.at(-1);
  if (metric?.name !== sample.name) throw new Error(`a sample outside of its metric: ${line}`);
  metric.samples.push(sample);
}

function readSample(line: string): Sample {
  let at = 0;
  const take = (expected: RegExp): string => {
    const match = new RegExp(expected.source, "y");
    match.lastIndex = at;
    const found = match.exec(line)?.[0];
    if (found === undefined) throw new Error(`${line}: ${expected} expected at ${at}`);
    at += found.length;
    return found;
  };
  const name = take(/[a-zA-Z_:][a-zA-Z0-9_:]*/);
  const labels: Record<string, string> = {};
  if (line[at] === "{") {
    take(/\{/);
    while (line[at] !== "}") {
      const label = take(/[a-zA-Z_][a-zA-Z0-9_]*/);
      take(/="/);
      if (label in labels) throw new Error(`${line}: label ${label} twice`);
      labels[label] = unescaped(take(/(?:[^"\\\n]|\\[\\"n])*/));
      take(/"/);
      if (line[at] !== "}") take(/,/);
    }
    take(/\}/);
  }
  take(/ /);
  const value = Number(take(/[0-9.eE+-]+$/));
  if (Number.isNaN(value)) throw new Error(`${line}: no number`);
  return { name, labels, value };
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
}
