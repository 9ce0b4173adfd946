import type { CaptureMappingData } from "bridge/api";
import { argument, type Context, isSet, segment } from "../../context.ts";
import { CommandFailure } from "../../failure.ts";
import { findMapping } from "../../find.ts";
import { confirm } from "../../secret.ts";
import { count } from "../../words.ts";

/** Puts the triggers back on a mapping's table, after a question that says which side wins. */
export async function captureMapping(context: Context): Promise<void> {
  const { out, terminal } = context;
  const [isSalesforces, isMine] = [isSet(context, "salesforce"), isSet(context, "mine")];
  if (isSalesforces === isMine) {
    throw new CommandFailure(
      "usage",
      "choose what wins over the writes that were not captured: --salesforce (read every record again, Salesforce's values win) or --mine (send every row)",
    );
  }
  const api = context.api();
  const { id, sf_object, pg_table, conflict_policy } = await findMapping(api, argument(context, 0));
  const path = `/mappings/${segment(id)}/capture`;
  const body = { uncaptured: isMine ? "mine" : "salesforce" };
  if (!isSet(context, "yes")) {
    const { data } = await api.post<CaptureMappingData>(path, { query: { dry_run: true }, body });
    const [rows, calls] = [count(data.rows, "row", "rows"), count(data.calls, "API call", "API calls")];
    const what = isMine
      ? `sends ${rows} of ${pg_table}; where a record of Salesforce has changed meanwhile, ${conflict_policy} decides`
      : `reads every record of ${sf_object} again over ${rows} of ${pg_table}; writes that were not captured are overwritten`;
    out.note(`This ${what}. It takes about ${calls}.`);
    if (!(await confirm(terminal, "Continue?"))) {
      throw new CommandFailure("usage", "not confirmed: say --yes to do it without a question");
    }
  }
  const { data } = await api.post<CaptureMappingData>(path, { body });
  const then = isMine ? "every row is captured as changed" : "every record is read again";
  out.done(
    `The triggers of ${pg_table} are put on, then ${then}. Follow it with: bridge mapping show ${sf_object}`,
    data,
  );
}
