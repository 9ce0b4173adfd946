/** One metric in the plain-text exposition format 0.0.4, its samples by label values. */
export interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  readonly labels: readonly string[];
  readonly samples: readonly { readonly values: readonly string[]; readonly value: number }[];
}

/** The content type of the format (contract 4.2). */
export const EXPOSITION_TYPE = "text/plain; version=0.0.4";

/** The text of the metrics: HELP and TYPE once each, then the samples, the last line ended too. */
export function exposition(metrics: readonly Metric[]): string {
  return metrics.map(textOf).join("");
}

function textOf({ name, type, help, labels, samples }: Metric): string {
  const lines = samples.map(({ values, value }) => {
    const pairs = labels.map((label, at) => `${label}="${escapeLabel(values[at] ?? "")}"`);
    return `${name}{${pairs.join(",")}} ${value}\n`;
  });
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

const escapeHelp = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");

const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"');
