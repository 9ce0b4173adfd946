import type { PushExistingData, ReadMappingData } from "bridge/api";
import { ArchiveRestore, CircleStop, RotateCcw, Trash2, Upload } from "lucide-react";
import { useState } from "react";
import type { Act } from "../../api/ask.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAct } from "../../api/use.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Menu } from "../../parts/menu.tsx";
import { useSay } from "../../parts/toast.tsx";
import { counted } from "../../parts/words.ts";
import { go, hrefOf } from "../../route.ts";

type Asked = "reload" | "delete" | "push" | null;

/** What is done with a mapping now and then. */
export function MoreActs({ mapping }: { readonly mapping: ReadMappingData }) {
  const [asked, setAsked] = useState<Asked>(null);
  const { refusal } = useScopes();
  const say = useSay();
  const path = `/mappings/${mapping.id}`;
  const act = useAct<unknown, Act<unknown>>((given) => given);
  const run = (given: Act<unknown>, title: string, description?: string, then?: () => void) =>
    act.mutate(given, {
      onSuccess: () => {
        setAsked(null);
        then?.();
        say.done(title, description);
      },
      onError: (error) => asked === null && say.failed(error),
    });
  const abort = useAct<{ aborted: boolean }>(() => ({ method: "POST", path: `${path}/abort` }));
  const push = useAct<PushExistingData>(() => ({ method: "POST", path: `${path}/push-existing` }));
  const close = () => {
    act.reset();
    push.reset();
    setAsked(null);
  };

  if (mapping.state === "deleted") {
    const restore = () =>
      run(
        { method: "POST", path: `${path}/restore` },
        "Restored",
        "It is paused. Activated, it begins with a comparison of both sides.",
      );
    return (
      <Menu
        label="More"
        acts={[
          {
            name: "Restore",
            icon: <ArchiveRestore size={16} aria-hidden />,
            onAct: restore,
            refused: refusal("admin"),
          },
        ]}
      />
    );
  }
  return (
    <>
      <Menu
        label="More"
        acts={[
          {
            name: "Abort the running cycle",
            icon: <CircleStop size={16} aria-hidden />,
            refused: refusal("operate"),
            onAct: () =>
              abort.mutate(undefined, {
                onSuccess: ({ data }) =>
                  data.aborted
                    ? say.done("The cycle stops at its next batch")
                    : say.done("Nothing was running", "There is nothing to abort between two cycles."),
                onError: say.failed,
              }),
          },
          {
            name: "Read everything again",
            icon: <RotateCcw size={16} aria-hidden />,
            refused:
              refusal("admin") ?? (mapping.sync_direction === "pg_to_sf" ? "It only writes to Salesforce." : null),
            onAct: () => setAsked("reload"),
          },
          {
            name: "Push existing rows",
            icon: <Upload size={16} aria-hidden />,
            refused: refusal("admin") ?? (mapping.sync_direction === "sf_to_pg" ? "It only reads Salesforce." : null),
            onAct: () => setAsked("push"),
          },
          {
            name: "Delete mapping",
            icon: <Trash2 size={16} aria-hidden />,
            danger: true,
            refused: refusal("admin"),
            onAct: () => setAsked("delete"),
          },
        ]}
      />
      <Confirm
        open={asked === "reload"}
        onClose={close}
        title={`Read every record of ${mapping.sf_object} again?`}
        act="Read everything again"
        kind="primary"
        busy={act.isPending}
        error={act.error}
        onAct={() =>
          run(
            { method: "POST", path: `${path}/reload` },
            "The load begins",
            "It runs beside the cycles and can be interrupted.",
          )
        }
      >
        <p>
          It costs a call for every 2,000 records. Rows that differ are put right; nothing is deleted that Salesforce
          has.
        </p>
      </Confirm>
      <Confirm
        open={asked === "push"}
        onClose={close}
        title="Send rows that no record stands for?"
        act="Push existing rows"
        kind="primary"
        busy={push.isPending}
        error={push.error}
        onAct={() =>
          push.mutate(undefined, {
            onSuccess: ({ data }) => {
              setAsked(null);
              say.done(
                `${counted(data.queued, "row")} will be sent`,
                data.more ? "There are more: push again when these are through." : undefined,
              );
            },
          })
        }
      >
        <p>
          Every row of <code>{mapping.pg_table}</code> without an <code>sfid</code> is sent as if it were inserted now.
          {mapping.upsert_field
            ? " Records that the upsert field finds are updated instead."
            : " Without an upsert field, each makes a new record."}
        </p>
      </Confirm>
      <Confirm
        open={asked === "delete"}
        onClose={close}
        title={`Delete the mapping of ${mapping.sf_object}?`}
        act="Delete mapping"
        busy={act.isPending}
        error={act.error}
        onAct={() =>
          run(
            { method: "DELETE", path },
            `The mapping of ${mapping.sf_object} is deleted`,
            "Table and rows stay.",
            () => go(hrefOf("/mappings")),
          )
        }
      >
        <p>
          Nothing travels any more and changes are no longer captured. The table <code>{mapping.pg_table}</code> stays
          with all its rows, and nothing happens in Salesforce. The mapping can be restored.
        </p>
      </Confirm>
    </>
  );
}
