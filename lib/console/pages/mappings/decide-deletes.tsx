import type { ConfirmDeletesData, ReadMappingData, RejectDeletesBody, RejectDeletesData } from "bridge/api";
import { useEffect } from "react";
import { useAct } from "../../api/use.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { useSay } from "../../parts/toast.tsx";
import { counted } from "../../parts/words.ts";

/** Keys of held deletes; empty: all of them. */
export type Chosen = ReadonlySet<string>;

interface Deciding {
  readonly mapping: ReadMappingData;
  readonly chosen: Chosen;
  readonly onClose: () => void;
}

/** The keys as the API takes them; all where none is chosen. */
const only = (chosen: Chosen) => ({ only: [...chosen].join(",") || undefined });

/** Confirms deletes: there is no way back for records after Salesforce has emptied its recycle bin. */
export function ConfirmRelease({ mapping, chosen, figure, onClose }: Deciding & { readonly figure: number }) {
  const say = useSay();
  const release = useAct<ConfirmDeletesData>(() => ({
    method: "POST",
    path: `/mappings/${mapping.id}/confirm-deletes`,
    query: only(chosen),
  }));
  const deletes = counted(figure, "delete");
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Release ${deletes} of ${mapping.sf_object}?`}
      act={`Release ${deletes}`}
      busy={release.isPending}
      error={release.error}
      onAct={() =>
        release.mutate(undefined, {
          onSuccess: ({ data }) => {
            onClose();
            const more = "There are more: release them too.";
            say.done(`${counted(data.confirmed, "delete")} released`, data.more ? more : "The next cycle sends them.");
          },
        })
      }
    >
      <p>
        Rows of <code>{mapping.pg_table}</code> that Salesforce deleted are deleted here; records of {mapping.sf_object}{" "}
        whose rows were deleted go to Salesforce's recycle bin, where they can be restored for fifteen days.
      </p>
    </Confirm>
  );
}

/** Says before what cannot come back, and takes the deletes back. */
export function ConfirmReject({ mapping, chosen, onClose }: Deciding) {
  const say = useSay();
  const path = `/mappings/${mapping.id}/reject-deletes`;
  const forecast = useAct<RejectDeletesData, RejectDeletesBody>((body) => ({
    method: "POST",
    path,
    query: { dry_run: true, ...only(chosen) },
    body,
  }));
  const reject = useAct<RejectDeletesData, RejectDeletesBody>((body) => ({
    method: "POST",
    path,
    query: only(chosen),
    body,
  }));
  const { mutate: ask } = forecast;
  useEffect(() => ask({}), [ask]);
  const { rows = 0, records = 0, gone = 0, lost_columns = [], lost_children = [] } = forecast.data?.data ?? {};
  const goThrough = async () => {
    const sum = { done: 0, staying: 0, reason: "" };
    for (let after: string | null | undefined = null; after !== undefined; ) {
      const { data } = await reject.mutateAsync({ after, recreate: gone > 0 });
      sum.done += data.rows + data.records + data.recreated;
      sum.staying += data.staying.length;
      sum.reason ||= data.staying[0]?.reason ?? "";
      after = data.next ?? undefined;
    }
    onClose();
    const stay = sum.staying > 0 ? `${counted(sum.staying, "delete")} stay on hold: ${sum.reason}` : undefined;
    say.done(`${counted(sum.done, "delete")} rejected`, stay ?? (records > 0 ? LATER : undefined));
  };
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Reject ${counted(rows + records + gone, "delete")}?`}
      act="Reject and restore"
      kind="primary"
      busy={forecast.isPending || reject.isPending}
      error={forecast.error ?? reject.error}
      onAct={() => void goThrough().catch(() => undefined)}
    >
      <p>
        {counted(rows, "row")} of <code>{mapping.pg_table}</code> are inserted again, {counted(records, "record")} of{" "}
        {mapping.sf_object} undeleted.
        {lost_columns.length > 0 && ` Not mapped, so empty: ${lost_columns.join(", ")}.`}
        {lost_children.length > 0 && ` Not restored: rows of ${lost_children.join(", ")}.`}
        {gone > 0 &&
          ` ${counted(gone, "record")} are gone for good: their rows are sent as new records with other ids.`}
      </p>
    </Confirm>
  );
}

const LATER = "The next cycles undelete the records. One that is gone for good stays on hold; reject it again then.";
