/**
 * What a statement writes, as short names: `UPDATE _trigger_log`, `INSERT rows`. Mapped tables are all called `rows`.
 * Text that is quoted in the statement is not looked at.
 */
export function effectsIn(sql: string): string[] {
  const plain = sql.replace(/'(?:[^']|'')*'/g, "''").replace(/\$\$[\s\S]*?\$\$/g, "''");
  return [...plain.matchAll(WRITES)].map(
    ([, verb = "", table = ""]) => `${verb.split(/\s/)[0]?.toUpperCase()} ${kindOf(table)}`,
  );
}

/** The name of the point where these effects become durable: the engine's word for it, else the effects themselves. */
export function pointOf(effects: readonly string[], isTransaction: boolean): string {
  const named = [...new Set(effects)].sort();
  const own = named.filter((effect) => !effect.endsWith(" rows"));
  const text = (isTransaction ? "commit " : "") + (own.length > 0 ? own : named).join(", ");
  return POINTS.find(([pattern]) => pattern.test(text))?.[1] ?? text;
}

/** Statements and transactions by what they write. What a page changes beside its rows differs from page to page. */
const POINTS: readonly (readonly [RegExp, string])[] = [
  [/^commit .*INSERT _bridge_pushed/, "commit of results"],
  [/^commit (DELETE _bridge_in_hand, )?INSERT _bridge_in_hand, /, "commit of a claim"],
  [/^commit .*CREATE _bridge_meta/, "commit of metadata tables"],
  [/^commit .*CREATE _bridge_insert/, "commit of table and triggers"],
  [/^commit .*UPDATE _bridge_loads/, "commit of a load's page"],
  [/^commit DELETE _bridge_in_hand, UPDATE _trigger_log$/, "commit of a recovery"],
  [/^commit /, "commit of a page"],
  [/^DELETE _bridge_outbox/, "delete published events"],
  [/^DELETE _bridge_conflicts.*UPDATE _bridge_loads/, "end of a load"],
  [/^DELETE _bridge_conflicts/, "end of a cycle"],
  [/^INSERT _bridge_outbox, UPDATE _bridge_state/, "lease of a cycle"],
  [/^UPDATE _bridge_loads/, "lease of a load"],
  [/^(INSERT _bridge_in_hand, )?UPDATE _bridge_state, UPDATE _trigger_log$/, "mark as sent"],
  [/^UPDATE _bridge_state/, "renewal, or what the probe saw"],
  [/^DELETE _bridge_in_hand, UPDATE _trigger_log$/, "release"],
  [/^UPDATE _trigger_log/, "look at a job"],
];

const WRITES =
  /\b(INSERT\s+INTO|DELETE\s+FROM|UPDATE(?!\s+(?:SET|OF|SKIP|NOWAIT)\b)|CREATE(?:\s+\w+)*?\s+(?:TABLE|INDEX|TRIGGER|SCHEMA|FUNCTION)|ALTER\s+TABLE|DROP\s+TRIGGER)\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?((?:"?\w+"?\.)?"?\w+"?)/gi;

function kindOf(qualified: string): string {
  const table = (qualified.split(".").at(-1) ?? "").replaceAll('"', "");
  return table.startsWith("_") ? table : "rows";
}
