/** A metric as a scraper reads it. */
interface ScrapedMetric {
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
 * Reads the text format 0.0.4 by its own grammar, and throws where a scraper would: a
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
      const sample = readSample(line);
      const metric = metrics.at(-1);
      if (metric?.name !== sample.name) throw new Error(`a sample outside of its metric: ${line}`);
      metric.samples.push(sample);
    }
  }
  return metrics;
}

function readSample(line: string): Sample {
  const [, name = "", inBraces = "", value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ([0-9.eE+-]+)$/.exec(line) ?? [];
  if (value === undefined || Number.isNaN(Number(value))) throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  let rest = inBraces;
  while (rest !== "") {
    const [whole, label, text] = /^([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/.exec(rest) ?? [];
    if (whole === undefined || label === undefined || text === undefined) throw new Error(`no label: ${rest}`);
    if (label in labels) throw new Error(`${line}: label ${label} twice`);
    labels[label] = text.replace(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
    rest = rest.slice(whole.length);
  }
  return { name, labels, value: Number(value) };
}
