import type {
  ChangeBudgetData,
  ListAuditLogData,
  ListConflictsData,
  ListInboundErrorsData,
  ReadBudgetData,
  ReadHealthData,
  RetryInboundData,
} from "bridge/api";
import { didOf } from "../../../model/workspace/audit-actions.ts";
import { type Context, isSet, pageIn, segment, text, wholeNumber } from "../../context.ts";
import { CommandFailure } from "../../failure.ts";
import { findMapping } from "../../find.ts";
import { linesOf } from "../../incidents.ts";
import { harmless } from "../../width.ts";
import { count, labelOf, shortTime } from "../../words.ts";

/** Both sides and the engine. */
export async function health(context: Context): Promise<void> {
  const { out } = context;
  const { data } = await context.api().get<ReadHealthData>("/health", { incidents: true });
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
    const isSeen = data.pg.status !== "error";
    const rows = pending_rows === null || !isSeen ? "? rows" : count(pending_rows, "row", "rows");
    out.done(
      `${out.paint("dim", "engine")}      ${mark(status)}, ${rows} waiting, last run ${last_run_at === null ? (isSeen ? "never" : "unknown") : out.time(last_run_at)}`,
      data,
    );
    for (const why of [data.sync.pause, data.sync.upgrade])
      if (why !== undefined) out.done(`            ${harmless(why)}`, data);
    for (const incident of data.incidents ?? []) {
      const [message = "", ...lines] = linesOf(incident);
      out.done([out.paint(incident.stops ? "red" : "yellow", message), ...lines], data);
    }
  }
  if (!isWell) context.endAs("unwell");
}

/** Records that could not become rows; `--retry` has them read again. */
export async function inboundErrors(context: Context): Promise<void> {
  if (context.options["retry"] !== undefined) return retryInbound(context);
  const { data } = await context
    .api()
    .get<readonly ListInboundErrorsData[]>("/monitoring/inbound-errors", await slice(context));
  context.out.list(
    data,
    [
      { name: "LAST TRIED", of: ({ last_at }) => last_at, short: shortTime },
      { name: "OBJECT", of: ({ sf_object }) => sf_object },
      { name: "RECORD", of: ({ sfid }) => sfid, whole: true },
      { name: "TRIES", of: ({ attempts }) => attempts, right: true },
      { name: "ERROR", of: ({ error }) => error },
    ],
    "Every record that was read is a row.",
  );
}

async function retryInbound(context: Context): Promise<void> {
  const [sfid, wanted] = [text(context, "retry"), text(context, "mapping")];
  if (wanted === null) throw new CommandFailure("usage", "name the mapping whose records are read again: --mapping");
  const { id, sf_object } = await findMapping(context.api(), wanted);
  const { data } = await context
    .api()
    .post<RetryInboundData>(`/mappings/${segment(id)}/retry-inbound`, { query: { sfid } });
  if (sfid !== null && data.retried === 0)
    throw new CommandFailure(
      "notFound",
      `no record ${sfid} of ${sf_object} waits to become a row: it has, or never came`,
    );
  const many = count(data.retried, "record is", "records are");
  context.out.done(`${many} read again by the next cycle of ${sf_object}.`, data);
}

/** Fields that changed on both sides; `--use-other` gives the row the value that lost. */
export async function conflicts(context: Context): Promise<void> {
  const id = text(context, "useOther");
  if (id !== null) {
    const { data } = await context.api().post(`/monitoring/conflicts/${segment(id)}/use-other-value`);
    return context.out.done(`The row has the other value of conflict ${id} now; the next cycle sends it.`, data);
  }
  const { data } = await context.api().get<readonly ListConflictsData[]>("/monitoring/conflicts", await slice(context));
  context.out.list(
    data,
    [
      { name: "ID", of: ({ id }) => id, right: true, whole: true },
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

/** The org's API calls. */
export async function budget(context: Context): Promise<void> {
  const body = shareIn(context);
  const api = context.api();
  const { data } =
    Object.keys(body).length === 0
      ? await api.get<ReadBudgetData>("/monitoring/budget")
      : await api.patch<ChangeBudgetData>("/monitoring/budget", { body });
  const { out } = context;
  if (out.json) out.record({ ...data });
  else reportBudget(out, data);
  for (const warning of warningsOf(data)) out.note(warning);
}

function reportBudget(out: Context["out"], { hours, ...figures }: ReadBudgetData): void {
  out.record({ ...figures });
  if (hours === undefined) return;
  const byObject = [...Map.groupBy(hours, ({ sf_object }) => sf_object)].map(([sf_object, some]) => ({
    sf_object,
    calls: some.reduce((sum, { calls }) => sum + calls, 0),
    changes: some.reduce((sum, { changes }) => sum + changes, 0),
    busiest: some.reduce((most, one) => (one.calls > most.calls ? one : most)),
  }));
  out.text("\n");
  out.list(
    byObject.toSorted((one, other) => other.calls - one.calls),
    [
      { name: "OBJECT", of: ({ sf_object }) => sf_object },
      { name: "CALLS IN 24 H", of: ({ calls }) => calls, right: true },
      { name: "CHANGES", of: ({ changes }) => changes, right: true },
      { name: "BUSIEST HOUR", of: ({ busiest }) => `${busiest.calls} from ${out.time(busiest.at)}`, spare: true },
    ],
    "No call of a mapping is counted yet.",
  );
}

/** Whether so much of the share is used that the operator should know. */
export const isNearlySpent = ({
  own_calls: own,
  allowed_calls: allowed,
}: Pick<ReadBudgetData, "own_calls" | "allowed_calls">) => allowed !== null && own !== null && own >= 0.8 * allowed;

/** What needs the operator. */
function warningsOf(budget: ReadBudgetData): readonly string[] {
  const { calls_limit: limit, forecast_calls_per_day: forecast, allowed_calls: allowed, own_calls: own } = budget;
  const { pace, pace_seconds, since } = budget;
  const slower =
    "Let mappings read less often (bridge mapping update MAPPING --interval SECONDS, or --when-quiet SECONDS)";
  return [
    ...(limit && forecast > limit
      ? [
          `The forecast of ${forecast} calls a day is above the org's ${limit}: pulls will be further apart than configured. ${slower}, or raise the org's limit.`,
        ]
      : []),
    ...(pace === "waiting"
      ? [`Bridge's share was spent at ${since}: rows wait, pulls come every ${pace_seconds} s.`]
      : []),
    ...(pace !== "waiting" && isNearlySpent(budget)
      ? [`Bridge has made ${own} of the ${allowed} calls of its share in 24 hours. ${slower}, or raise the share.`]
      : []),
  ];
}

/** What of the org's calls Bridge may make, and how it spends them, as it was typed. */
function shareIn(context: Context): object {
  const [share, most, quiet] = [text(context, "share"), text(context, "atMost"), text(context, "whenQuiet")];
  const percent = /^(\d+(?:\.\d+)?)%?$/.exec(share ?? "")?.[1];
  if (share !== null && percent === undefined)
    throw new CommandFailure("invalid", `--share ${share}: name a part of the org's calls, such as 60%`);
  if (most !== null && most !== "none" && !/^\d+$/.test(most))
    throw new CommandFailure("invalid", `--at-most ${most}: name a number of calls a day, such as 8000, or none`);
  return {
    ...(percent !== undefined && { calls_share: Number(percent) / 100 }),
    ...(most !== null && { most_calls: most === "none" ? null : Number(most) }),
    ...(quiet !== null && { when_quiet_seconds: quiet === "none" ? null : wholeNumber(context, "whenQuiet") }),
  };
}

/** Who did what. */
export async function audit(context: Context): Promise<void> {
  const api = context.api();
  const asked = { actor: text(context, "actor"), action: text(context, "action"), ...pageIn(context) };
  if (isSet(context, "csv")) return context.out.text(await api.text("/audit-log", { format: "csv", ...asked }));
  const { data } = await api.get<readonly ListAuditLogData[]>("/audit-log", asked);
  context.out.list(
    data,
    [
      { name: "AT", of: ({ created_at }) => created_at, short: shortTime },
      { name: "ACTOR", of: ({ actor }) => actor },
      { name: "ACTION", of: ({ action }) => action },
      { name: "RESOURCE", of: ({ resource_id }) => resource_id, whole: true, spare: true },
      { name: "WHAT", of: sentenceOf },
    ],
    "Nothing was done that matches.",
  );
}

/** `created the token ci (owner ada@example.com, scopes read)`. */
function sentenceOf({ action, detail }: ListAuditLogData): string {
  const { name, sf_object, url, ...others } = detail as Readonly<Record<string, unknown>>;
  const subject = textOf(name ?? sf_object ?? url ?? "");
  const rest = Object.entries(others).flatMap(([key, value]) =>
    value === null ? [] : [`${labelOf(key)} ${typeof value === "string" ? value : textOf(value)}`],
  );
  const what = didOf(action, /\s/.test(subject) ? `"${subject}"` : subject);
  return rest.length === 0 ? what : `${what} (${rest.join(", ")})`;
}

/** Values of a detail in words, without JSON's signs. */
function textOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value ?? "none");
  if (Array.isArray(value)) return value.map(textOf).join(" and ");
  const parts = Object.entries(value).map(([key, inner]) => `${labelOf(key)} ${textOf(inner)}`);
  return parts.join(", ");
}

async function slice(context: Context) {
  const wanted = text(context, "mapping");
  const mapping = wanted === null ? null : await findMapping(context.api(), wanted);
  return { ...pageIn(context), mapping_id: mapping?.id ?? null };
}
