import type { DismissRowsData, ListErrorsData, ListFailuresData, RetryRowData, RetryRowsData } from "bridge/api";
import { type Context, isSet, pageIn, segment, text } from "../../context.ts";
import { CommandFailure } from "../../failure.ts";
import { confirmUnlessYes } from "../../secret.ts";
import { count, shortTime } from "../../words.ts";

/** Failed rows, one by one or by kind; `--retry` tries them again, `--dismiss` takes them out of the list. */
export async function errors(context: Context): Promise<void> {
  if (context.options["dismiss"] !== undefined) return dismiss(context);
  if (context.options["retry"] !== undefined) return retry(context);
  return isSet(context, "grouped") ? listGrouped(context) : list(context);
}

async function list(context: Context): Promise<void> {
  const { data } = await context.api().get<readonly ListErrorsData[]>("/monitoring/errors", {
    ...pageIn(context),
    table: text(context, "table"),
  });
  context.out.list(
    data,
    [
      { name: "ID", of: ({ id }) => id, right: true, whole: true },
      { name: "AT", of: ({ created_at }) => created_at, short: shortTime, spare: true },
      { name: "TABLE", of: ({ table_name }) => table_name },
      { name: "ACTION", of: ({ action }) => action },
      { name: "RECORD", of: ({ sfid }) => sfid, whole: true },
      { name: "ERROR", of: (row) => row._ab_err, least: 20 },
    ],
    "No failed rows.",
  );
}

async function listGrouped(context: Context): Promise<void> {
  const { data } = await context.api().get<ListFailuresData>("/monitoring/failures", { table: text(context, "table") });
  context.out.list(
    data,
    [
      { name: "FINGERPRINT", of: ({ fingerprint }) => fingerprint, whole: true },
      { name: "ROWS", of: ({ count }) => count, right: true },
      { name: "TABLE", of: ({ table_name }) => table_name },
      { name: "ACTION", of: ({ action }) => action },
      { name: "LAST", of: ({ last_at }) => last_at, short: shortTime, spare: true },
      { name: "FOR EXAMPLE", of: ({ sample }) => sample, least: 30 },
    ],
    "No failed rows.",
  );
}

async function retry(context: Context): Promise<void> {
  const { retry: id } = context.options;
  const api = context.api();
  if (typeof id === "string") {
    const { data } = await api.post<RetryRowData>(`/monitoring/errors/${segment(id)}/retry`);
    // Nothing to retry is no failure, but a change that is not there is.
    if (data.retried === 0) await api.get(`/monitoring/activity/${segment(id)}`);
    return context.out.done(
      data.retried > 0 ? `Row ${id} is tried again by the next cycle.` : `Row ${id} is no longer waiting for a retry.`,
      data,
    );
  }
  const retried = await everyFailedRow(context, "retry", (which) => `Try ${which} again?`);
  context.out.done(`${count(retried, "row is", "rows are")} tried again by the next cycles.`, { retried });
}

/** They stay FAILED in the log; the next change of a row still carries what was dismissed of it. */
async function dismiss(context: Context): Promise<void> {
  const { dismiss: id, retry: alsoRetry } = context.options;
  if (alsoRetry !== undefined) throw new CommandFailure("usage", "--retry or --dismiss, not both");
  const api = context.api();
  if (typeof id === "string") {
    if (!/^\d{1,15}$/.test(id))
      throw new CommandFailure("invalid", `--dismiss takes a number of the list, not "${id}"`);
    const { data } = await api.post<DismissRowsData>("/monitoring/errors/dismiss", { body: { id: Number(id) } });
    if (data.dismissed === 0) await api.get(`/monitoring/activity/${segment(id)}`);
    const was =
      data.dismissed > 0 ? `The failure ${id} is dismissed.` : `The change ${id} has not failed, or was dismissed.`;
    return context.out.done(was, data);
  }
  const dismissed = await everyFailedRow(context, "dismiss", (which) => `Dismiss ${which}?`);
  context.out.done(`${count(dismissed, "failure is", "failures are")} dismissed.`, { dismissed });
}

/** Retries or dismisses every failed row, of a kind or table where one is named, once that is confirmed. Gives how many. */
async function everyFailedRow(
  context: Context,
  act: "retry" | "dismiss",
  question: (which: string) => string,
): Promise<number> {
  const [fingerprint, table] = [text(context, "fingerprint"), text(context, "table")];
  const which = `all failed rows${fingerprint === null ? "" : ` of kind ${fingerprint}`}${table === null ? "" : ` of ${table}`}`;
  await confirmUnlessYes(context, question(which));
  const body = { ...(fingerprint === null ? {} : { fingerprint }), ...(table === null ? {} : { table }) };
  const api = context.api();
  let done = 0;
  for (;;) {
    const { data } = await api.post<Partial<RetryRowsData & DismissRowsData>>(`/monitoring/errors/${act}`, { body });
    const now = (act === "retry" ? data.retried : data.dismissed) ?? 0;
    done += now;
    context.out.progress(`${done} rows, ${data.remaining} to go`);
    if (data.remaining === 0 || now === 0) break;
  }
  context.out.progress("");
  return done;
}
