import type { ConfirmDeletesData, ReadMappingData, RejectDeletesBody, RejectDeletesData } from "bridge/api";
import { useEffect, useState } from "react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { List } from "../../parts/list.tsx";
import { Card } from "../../parts/page.tsx";
import { Pager } from "../../parts/pager.tsx";
import { Time } from "../../parts/time.tsx";
import { useSay } from "../../parts/toast.tsx";
import { Notice, Trouble } from "../../parts/trouble.tsx";
import { counted } from "../../parts/words.ts";
import { hrefOf } from "../../route.ts";

/** What would be deleted, and on which side. */
function Held({ mapping }: { readonly mapping: ReadMappingData }) {
  const [offset, setOffset] = useState(0);
  const asked = questions.heldDeletes(mapping.id, { limit: 10, offset });
  const { data, error, refetch } = useAnswer(asked, { everySeconds: 10, keepsPrevious: true });
  if (error && !data) return <Trouble error={error} again={() => void refetch()} />;
  if (!data || data.data.length === 0) return null;
  return (
    <Card title="What would be deleted" padded={false} foot={<Pager meta={data.meta} onGo={setOffset} />}>
      <List
        caption="Deletes that are held back"
        head={
          <>
            <th>Here or there</th>
            <th>Record</th>
            <th className="number">Row</th>
            <th className="wide">Asked for</th>
          </>
        }
      >
        {data.data.map(({ deletes, sfid, record_id, at }) => (
          <tr key={`${deletes} ${sfid} ${record_id}`}>
            <td>{deletes === "row" ? `the row in ${mapping.pg_table}` : "the record in Salesforce"}</td>
            <td className="mono">{sfid ?? "–"}</td>
            <td className="number">{record_id ?? "–"}</td>
            <td className="wide once">
              <Time at={at} />
            </td>
          </tr>
        ))}
      </List>
    </Card>
  );
}

/** The delete breaker's question: more was deleted within an hour than is usual, and somebody must say that it was meant. */
export function BreakerQuestion({ mapping }: { readonly mapping: ReadMappingData }) {
  const [asks, setAsks] = useState<"confirm" | "reject" | null>(null);
  const { refusal } = useScopes();
  const say = useSay();
  const held = mapping.held_deletes ?? 0;
  const confirm = useAct<ConfirmDeletesData>(() => ({
    method: "POST",
    path: `/mappings/${mapping.id}/confirm-deletes`,
  }));
  const deletes = counted(held, "delete");
  return (
    <>
      <Notice
        tone="warn"
        title={`${deletes} ${held === 1 ? "is" : "are"} held back. Were they meant?`}
        acts={
          <>
            <Button kind="danger" compact refused={refusal("admin")} onClick={() => setAsks("confirm")}>
              Let them go
            </Button>
            <Button compact refused={refusal("admin")} onClick={() => setAsks("reject")}>
              Take them back
            </Button>
            <a className="button compact" href={hrefOf("/activity", { table: mapping.pg_table, state: "NEW" })}>
              See what waits
            </a>
          </>
        }
      >
        More of {mapping.sf_object} was deleted within an hour than is let through ({mapping.delete_limit}). Everything
        else flows.
      </Notice>
      <Held mapping={mapping} />
      <Confirm
        open={asks === "confirm"}
        onClose={() => setAsks(null)}
        title={`Delete ${held === 1 ? "this one" : `these ${held}`} on the other side?`}
        act={`Let ${deletes} go`}
        busy={confirm.isPending}
        error={confirm.error}
        onAct={() =>
          confirm.mutate(undefined, {
            onSuccess: ({ data }) => {
              setAsks(null);
              say.done(
                `${counted(data.confirmed, "delete")} let go`,
                data.more ? "There are more: let them go as well." : "They travel with the next cycle.",
              );
            },
          })
        }
      >
        <p>
          Rows of <code>{mapping.pg_table}</code> that Salesforce deleted are deleted here; records of{" "}
          {mapping.sf_object} whose rows were deleted go to Salesforce's recycle bin, where they can be restored for
          fifteen days.
        </p>
      </Confirm>
      {asks === "reject" && <ConfirmReject mapping={mapping} onClose={() => setAsks(null)} />}
    </>
  );
}

/** Says before what cannot come back, takes all of it back, and asks again for records that are gone for good. */
function ConfirmReject({ mapping, onClose }: { readonly mapping: ReadMappingData; readonly onClose: () => void }) {
  const say = useSay();
  const path = `/mappings/${mapping.id}/reject-deletes`;
  const [gone, setGone] = useState(0);
  const forecast = useAct<RejectDeletesData, RejectDeletesBody>((body) => ({
    method: "POST",
    path,
    query: { dry_run: true },
    body,
  }));
  const reject = useAct<RejectDeletesData, RejectDeletesBody>((body) => ({ method: "POST", path, body }));
  const { mutate: ask } = forecast;
  useEffect(() => ask({}), [ask]);
  const goThrough = async () => {
    const sum = { done: 0, gone: 0, staying: 0, reason: "" };
    for (let after: string | null | undefined = gone > 0 ? "record:" : null; after !== undefined; ) {
      const { data } = await reject.mutateAsync({ after, recreate: gone > 0 });
      sum.done += data.rows + data.records + data.recreated;
      sum.gone += data.gone;
      sum.staying += data.staying.length;
      sum.reason ||= data.staying[0]?.reason ?? "";
      after = data.next ?? undefined;
    }
    say.done(
      `${counted(sum.done, "delete")} taken back`,
      sum.staying > 0 ? `${counted(sum.staying, "delete")} stay held: ${sum.reason}` : undefined,
    );
    if (sum.gone > 0) setGone(sum.gone);
    else onClose();
  };
  const { rows = 0, records = 0, lost_columns = [], lost_children = [] } = forecast.data?.data ?? {};
  return (
    <Confirm
      open
      onClose={onClose}
      title={gone > 0 ? `Create ${counted(gone, "record")} again?` : "Take these deletes back?"}
      act={gone > 0 ? "Create them again" : "Take them back"}
      kind="primary"
      busy={forecast.isPending || reject.isPending}
      error={forecast.error ?? reject.error}
      onAct={() => void goThrough().catch(() => undefined)}
    >
      {gone > 0 ? (
        <p>They are gone for good in Salesforce. Their rows are sent as new records, which get other ids.</p>
      ) : (
        <p>
          {counted(rows, "row")} of <code>{mapping.pg_table}</code> are inserted again, {counted(records, "record")} of{" "}
          {mapping.sf_object} undeleted.
          {lost_columns.length > 0 && ` Not mapped, so empty: ${lost_columns.join(", ")}.`}
          {lost_children.length > 0 && ` Not restored: rows of ${lost_children.join(", ")}.`}
        </p>
      )}
    </Confirm>
  );
}
