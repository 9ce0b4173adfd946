import { vi } from "vitest";

/** A line of a log group, as CloudWatch keeps it. */
export type Line = Readonly<Record<string, unknown>>;

/**
 * What is written meanwhile, as Lambda's runtime for Node.js keeps it in JSON: one thing stays what it is, several become
 * text (`LogPatch` of aws/aws-lambda-nodejs-runtime-interface-client).
 */
export async function logOf(work: () => Promise<unknown>): Promise<readonly Line[]> {
  const lines: Line[] = [];
  const spies = (["error", "warn", "info"] as const).map((level) =>
    vi.spyOn(console, level).mockImplementation((...said: unknown[]) => {
      const message = said.length === 1 ? said[0] : said.map(String).join(" ");
      const line = { timestamp: new Date().toISOString(), level: level.toUpperCase(), requestId: "r1", message };
      lines.push(JSON.parse(JSON.stringify(line)));
    }),
  );
  try {
    await work();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return lines;
}

type Row = Readonly<Record<string, unknown>>;

/**
 * A query of CloudWatch Logs Insights over lines: `fields`, `filter` by `=`, `>=`, `ispresent()` and `and`, `stats` by
 * `count(*)` and `max()`, `sort`, `limit`. Throws at anything else, as Insights does at what it does not know.
 */
export function runQuery(
  query: string,
  lines: readonly Line[],
): { readonly fields: readonly string[]; rows: readonly Row[] } {
  let rows: readonly Row[] = lines.map((line) => ({ ...flat(line), "@timestamp": line["timestamp"] }));
  let fields: readonly string[] = [];
  for (const command of query.split("|").map((part) => part.trim())) {
    const [, verb = "", rest = ""] = /^(\w+)\s+(.*)$/s.exec(command) ?? [];
    if (verb === "fields") fields = rest.split(",").map((name) => name.trim());
    else if (verb === "filter") rows = rows.filter((row) => rest.split(/\s+and\s+/).every((term) => holds(term, row)));
    else if (verb === "stats") ({ fields, rows } = grouped(rest, rows));
    else if (verb === "sort") rows = sorted(rest, rows);
    else if (verb === "limit") rows = rows.slice(0, Number(rest));
    else throw new Error(`not a command: ${command}`);
  }
  return { fields, rows };
}

function holds(term: string, row: Row): boolean {
  const [, present] = /^ispresent\(([\w.@]+)\)$/.exec(term) ?? [];
  if (present !== undefined) return row[present] !== undefined;
  const [, name = "", operator, text, number] = /^([\w.@]+)\s+(=|>=)\s+(?:"([^"]*)"|(\d+))$/.exec(term) ?? [];
  if (operator === "=") return row[name] === (text ?? Number(number));
  if (operator === ">=" && number !== undefined) return Number(row[name]) >= Number(number);
  throw new Error(`not a condition: ${term}`);
}

function grouped(text: string, rows: readonly Row[]): { fields: readonly string[]; rows: readonly Row[] } {
  const [figures = "", by = ""] = text.split(/\s+by\s+/);
  const keys = by.split(",").map((name) => name.trim());
  const named = figures.split(/,\s+/).map((figure) => {
    const [, of = "", name = ""] = /^(count\(\*\)|max\([\w.]+\)) as (\w+)$/.exec(figure) ?? [];
    if (name === "") throw new Error(`not a figure: ${figure}`);
    return { of, name };
  });
  const groups = Map.groupBy(rows, (row) => JSON.stringify(keys.map((key) => row[key])));
  const found = [...groups.values()].map((group) => ({
    ...Object.fromEntries(keys.map((key) => [key, group[0]?.[key]])),
    ...Object.fromEntries(named.map(({ of, name }) => [name, figureOf(of, group)])),
  }));
  return { fields: [...keys, ...named.map(({ name }) => name)], rows: found };
}

const figureOf = (of: string, group: readonly Row[]): number =>
  of === "count(*)" ? group.length : Math.max(...group.map((row) => Number(row[of.slice(4, -1)])));

function sorted(text: string, rows: readonly Row[]): readonly Row[] {
  const [, name = ""] = /^([\w.@]+) desc$/.exec(text) ?? [];
  if (name === "") throw new Error(`not an order: ${text}`);
  const value = (row: Row) => (typeof row[name] === "number" ? row[name] : Date.parse(String(row[name])));
  return rows.toSorted((one, other) => value(other) - value(one));
}

/** Fields of objects by their paths, as Insights discovers them. */
function flat(value: unknown, path = ""): Row {
  if (typeof value !== "object" || value === null) return { [path]: value };
  const parts = Object.entries(value).map(([name, inner]) => flat(inner, path === "" ? name : `${path}.${name}`));
  return Object.assign({}, ...parts);
}
