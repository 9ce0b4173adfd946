import type { ConfirmDeletesData, ListHeldDeletesData } from "bridge/api";
import { argument, type Context, isSet, segment, text, wholeNumber } from "../../context.ts";
import { CommandFailure } from "../../failure.ts";
import { findMapping } from "../../find.ts";
import { confirm } from "../../secret.ts";
import { shortTime } from "../../table.ts";
import { count } from "../../words.ts";

/** What the delete breaker asks about. */
export async function heldDeletes(context: Context): Promise<void> {
  const { out } = context;
  const api = context.api();
  const { id, sf_object } = await findMapping(api, argument(context, 0));
  const page = { limit: wholeNumber(context, "limit"), offset: wholeNumber(context, "offset") };
  const { data, meta } = await api.get<readonly ListHeldDeletesData[]>(`/mappings/${segment(id)}/held-deletes`, page);
  out.list(
    data,
    [
      { name: "KEY", of: ({ key }) => key, whole: true },
      { name: "NAME", of: ({ name }) => name },
      { name: "WOULD DELETE", of: ({ deletes }) => `the ${deletes}` },
      { name: "RECORD", of: ({ sfid }) => sfid, whole: true },
      { name: "ROW", of: ({ record_id }) => record_id, right: true, whole: true },
      { name: "SINCE", of: ({ at }) => at, short: shortTime },
    ],
    `${sf_object} has no held deletes.`,
  );
  if (meta && data.length < meta.total && !out.json) out.note(`${data.length} of ${meta.total} deletes`);
  if (data.length > 0 && !out.json) {
    out.note(
      `Let them go with: bridge mapping confirm-deletes ${sf_object}; take them back with: reject-deletes; some of them: --only <keys>`,
    );
  }
}

/** Lets the held deletes go, after a question that says how many there are, in as many calls as these take. */
export async function confirmDeletes(context: Context): Promise<void> {
  const { out, terminal } = context;
  const api = context.api();
  const { id, sf_object } = await findMapping(api, argument(context, 0));
  const path = `/mappings/${segment(id)}`;
  const only = text(context, "only");
  let asked = Number.POSITIVE_INFINITY;
  if (!isSet(context, "yes")) {
    const { meta } = await api.get(`${path}/held-deletes`, { limit: 1 });
    asked = Math.min(meta?.total ?? 0, only?.split(",").length ?? Number.POSITIVE_INFINITY);
    if (asked === 0) return out.done(`${sf_object} has no held deletes.`, { confirmed: 0, mapping_id: id });
    const question = `Delete ${count(asked, "row or record", "rows and records")} of ${sf_object} for good?`;
    if (!(await confirm(terminal, question))) {
      throw new CommandFailure("usage", "not confirmed: say --yes to do it without a question");
    }
  }
  let confirmed = 0;
  for (let more = true; more && confirmed < asked; ) {
    const { data } = await api.post<ConfirmDeletesData>(`${path}/confirm-deletes`, { query: { only } });
    confirmed += data.confirmed;
    more = data.more;
    out.progress(count(confirmed, "delete", "deletes"));
  }
  out.progress("");
  out.done(`${sf_object} lets ${count(confirmed, "delete", "deletes")} go.`, { confirmed, mapping_id: id });
}
