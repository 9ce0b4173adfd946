import type { ConfirmDeletesData, ReadMappingData } from "bridge/api";
import { useState } from "react";
import { useScopes } from "../../api/scopes.ts";
import { useAct } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { useSay } from "../../parts/toast.tsx";
import { Notice } from "../../parts/trouble.tsx";
import { counted } from "../../parts/words.ts";
import { hrefOf } from "../../route.ts";

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
              say.done(`${counted(data.confirmed, "delete")} let go`, "They travel with the next cycle.");
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
