import type { ConfirmDeletesData, ListHeldDeletesData } from "bridge/api";
import { type Context, isSet, pageIn, text } from "../../context.ts";
import { namedMapping } from "../../find.ts";
import { confirmUnlessYes } from "../../secret.ts";
import { count, shortTime } from "../../words.ts";

/** What the delete breaker asks about. */
export async function heldDeletes(context: Context): Promise<void> {
  const { out } = context;
  const { api, path, sf_object } = await namedMapping(context);
  const { data, meta } = await api.get<readonly ListHeldDeletesData[]>(`${path}/held-deletes`, pageIn(context));
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
  const { out } = context;
  const { api, path, id, sf_object } = await namedMapping(context);
  const only = text(context, "only");
  let asked = Number.POSITIVE_INFINITY;
  if (!isSet(context, "yes")) {
    const { meta } = await api.get(`${path}/held-deletes`, { limit: 1 });
    asked = Math.min(meta?.total ?? 0, only?.split(",").length ?? Number.POSITIVE_INFINITY);
    if (asked === 0) return out.done(`${sf_object} has no held deletes.`, { confirmed: 0, mapping_id: id });
    const what = count(asked, "row or record", "rows and records");
    await confirmUnlessYes(context, `Delete ${what} of ${sf_object} for good?`);
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
