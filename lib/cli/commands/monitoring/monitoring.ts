import { type Context, isSet, text, wholeNumber } from "../../context.ts";
import { findMapping } from "../../find.ts";
import { shortTime } from "../../table.ts";
import { count } from "../../words.ts";

interface Health {
  readonly pg: { readonly status: string; readonly latency_ms: number | null };
  readonly sf: { readonly status: string; readonly org_id: string | null };
  readonly sync: { readonly status: string; readonly last_run_at: string | null; readonly pending_rows: number };
}

/** Both sides and the engine. */
export async function health(context: Context): Promise<void> {
  const { out } = context;
  const { data } = await context.api().get<Health>("/health");
  const isWell = data.pg.status === "healthy" && data.sf.status === "healthy" && data.sync.status === "running";
  if (out.json) out.record({ ...data });
  else {
    const { url, because } = context.target();
    const mark = (status: string) =>
      out.paint(
        /^(healthy|running)$/.test(status) ? "green" : /^(error|broken)$/.test(status) ? "red" : "yellow",
        status,
      );
    out.done(`${out.paint("dim", "service")}     ${url}, ${because}`, data);
    out.done(`${out.paint("dim", "PostgreSQL")}  ${mark(data.pg.status)}, ${data.pg.latency_ms ?? "-"} ms`, data);
    out.done(`${out.paint("dim", "Salesforce")}  ${mark(data.sf.status)}, org ${data.sf.org_id ?? "-"}`, data);
    const { status, last_run_at, pending_rows } = data.sync;
    out.done(
      `${out.paint("dim", "engine")}      ${mark(status)}, ${count(pending_rows, "row", "rows")} waiting, last run ${last_run_at ?? "never"}`,
      data,
    );
  }
  if (!isWell) context.endAs("unwell");
}

interface InboundError {
  readonly mapping_id: string;
  readonly sf_object: string;
  readonly sfid: string;
  readonly error: string;
  readonly attempts: number;
  readonly last_at: string;
}

/** Records that could not become rows. */
export async function inboundErrors(context: Context): Promise<void> {
  const { data } = await context.api().get<readonly InboundError[]>("/monitoring/inbound-errors", await slice(context));
  context.out.list(
    data,
    [
      { name: "LAST TRIED", of: ({ last_at }) => last_at, short: shortTime },
      { name: "OBJECT", of: ({ sf_object }) => sf_object },
      { name: "RECORD", of: ({ sfid }) => sfid, whole: true },
      { name: "TRIES", of: ({ attempts }) => attempts, right: true },
      { name: "ERROR", of: ({ error }) => error },
    ],
    "Every record that was read has become a row.",
  );
}

interface Conflict {
  readonly id: number;
  readonly sf_object: string;
  readonly sfid: string;
  readonly record_id: number;
  readonly field: string | null;
  readonly winner: string;
  readonly postgres: string | null;
  readonly salesforce: string | null;
  readonly at: string;
}

/** Fields that changed on both sides. */
export async function conflicts(context: Context): Promise<void> {
  const { data } = await context.api().get<readonly Conflict[]>("/monitoring/conflicts", await slice(context));
  context.out.list(
    data,
    [
      { name: "AT", of: ({ at }) => at, short: shortTime, spare: true },
      { name: "OBJECT", of: ({ sf_object }) => sf_object },
      { name: "RECORD", of: ({ sfid }) => sfid, whole: true },
      { name: "FIELD", of: ({ field }) => field ?? "(the whole record)" },
      { name: "WINNER", of: ({ winner }) => winner },
      { name: "POSTGRESQL", of: ({ postgres }) => postgres },
      { name: "SALESFORCE", of: ({ salesforce }) => salesforce },
    ],
    "No conflicts.",
  );
}

interface Budget {
  readonly calls_limit: number | null;
  readonly forecast_calls_per_day: number;
}

/** The org's API calls. */
export async function budget(context: Context): Promise<void> {
  const { data } = await context.api().get<Budget>("/monitoring/budget");
  context.out.record({ ...data });
  const { calls_limit: limit, forecast_calls_per_day: forecast } = data;
  if (!limit || forecast <= limit) return;
  context.out.note(
    `The forecast of ${forecast} calls a day is above the org's ${limit}: reads will slow down and then stop each day. Let mappings read less often (bridge mapping update MAPPING --interval SECONDS), or raise the org's limit.`,
  );
}

interface AuditEntry {
  readonly created_at: string;
  readonly actor: string;
  readonly action: string;
  readonly resource_id: string;
  readonly detail: unknown;
}

/** Who did what. */
export async function audit(context: Context): Promise<void> {
  const api = context.api();
  const filter = { actor: text(context, "actor"), action: text(context, "action") };
  const page = { limit: wholeNumber(context, "limit"), offset: wholeNumber(context, "offset") };
  if (isSet(context, "csv"))
    return context.out.text(await api.text("/audit-log", { format: "csv", ...filter, ...page }));
  const { data } = await api.get<readonly AuditEntry[]>("/audit-log", { ...filter, ...page });
  context.out.list(
    data,
    [
      { name: "AT", of: ({ created_at }) => created_at, short: shortTime },
      { name: "ACTOR", of: ({ actor }) => actor },
      { name: "ACTION", of: ({ action }) => action },
      { name: "RESOURCE", of: ({ resource_id }) => resource_id, whole: true },
      { name: "DETAIL", of: ({ detail }) => JSON.stringify(detail), spare: true },
    ],
    "Nothing was done that matches.",
  );
}

async function slice(context: Context) {
  const wanted = text(context, "mapping");
  const mapping = wanted === null ? null : await findMapping(context.api(), wanted);
  return {
    limit: wholeNumber(context, "limit"),
    offset: wholeNumber(context, "offset"),
    mapping_id: mapping?.id ?? null,
  };
}
