import type { CaptureMappingData } from "bridge/api";
import { type Context, isSet } from "../../context.ts";
import { CommandFailure } from "../../failure.ts";
import { namedMapping } from "../../find.ts";
import { confirmUnlessYes } from "../../secret.ts";
import { count } from "../../words.ts";

/** Puts the triggers back on a mapping's table, after a question that says which side wins. */
export async function captureMapping(context: Context): Promise<void> {
  const { out } = context;
  const [isSalesforces, isMine] = [isSet(context, "salesforce"), isSet(context, "mine")];
  if (isSalesforces === isMine) {
    throw new CommandFailure(
      "usage",
      "choose what wins over the writes that were not captured: --salesforce (read every record again, Salesforce's values win) or --mine (send every row)",
    );
  }
  const { api, path, sf_object, pg_table, conflict_policy } = await namedMapping(context);
  const body = { uncaptured: isMine ? "mine" : "salesforce" };
  if (!isSet(context, "yes")) {
    const { data } = await api.post<CaptureMappingData>(`${path}/capture`, { query: { dry_run: true }, body });
    const [rows, calls] = [count(data.rows, "row", "rows"), count(data.calls, "API call", "API calls")];
    const what = isMine
      ? `sends ${rows} of ${pg_table}; where a record of Salesforce has changed meanwhile, ${conflict_policy} decides`
      : `reads every record of ${sf_object} again over ${rows} of ${pg_table}; writes that were not captured are overwritten`;
    out.note(`This ${what}. It takes about ${calls}.`);
    await confirmUnlessYes(context, "Continue?");
  }
  const { data } = await api.post<CaptureMappingData>(`${path}/capture`, { body });
  const then = isMine ? "every row is captured as changed" : "every record is read again";
  out.done(
    `The triggers of ${pg_table} are put on, then ${then}. Follow it with: bridge mapping show ${sf_object}`,
    data,
  );
}
