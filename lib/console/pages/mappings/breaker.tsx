import type { ConfirmDeletesData, ReadMappingData } from "bridge/api";
import { useState } from "react";
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
  const [asks, setAsks] = useState(false);
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
            <Button kind="danger" compact refused={refusal("admin")} onClick={() => setAsks(true)}>
              Let them go
            </Button>
            <a className="button compact" href={hrefOf("/activity", { table: mapping.pg_table, state: "NEW" })}>
              See what waits
            </a>
          </>
        }
      >
        More of {mapping.sf_object} was deleted within an hour than a tenth of the table. Everything else flows. If it
        was a mistake, put the rows or records back: what is there again is not deleted.
      </Notice>
      <Held mapping={mapping} />
      <Confirm
        open={asks}
        onClose={() => setAsks(false)}
        title={`Delete ${held === 1 ? "this one" : `these ${held}`} on the other side?`}
        act={`Let ${deletes} go`}
        busy={confirm.isPending}
        error={confirm.error}
        onAct={() =>
          confirm.mutate(undefined, {
            onSuccess: ({ data }) => {
              setAsks(false);
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
    </>
  );
}
