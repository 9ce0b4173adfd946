import type { PushExistingData, ReadMappingData } from "bridge/api";
import { ArchiveRestore, CircleStop, RotateCcw, Trash2, Upload } from "lucide-react";
import { useState } from "react";
import { useScopes } from "../../api/scopes.ts";
import { useAct } from "../../api/use.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Menu, type MenuAct } from "../../parts/menu.tsx";
import { useSay } from "../../parts/toast.tsx";
import { counted } from "../../parts/words.ts";
import { go, hrefOf } from "../../route.ts";

type Asked = "reload" | "delete" | "push" | null;

/** What is done with a mapping now and then. */
export function MoreActs({ mapping }: { readonly mapping: ReadMappingData }) {
  const [asked, setAsked] = useState<Asked>(null);
  const acts = useActs(mapping, setAsked);
  const question = (name: Asked) => ({ mapping, open: asked === name, onClose: () => setAsked(null) });
  return (
    <>
      <Menu label="More" acts={mapping.state === "deleted" ? acts.whenDeleted : acts.whenKept} />
      <ConfirmReload {...question("reload")} />
      <ConfirmPush {...question("push")} />
      <ConfirmDelete {...question("delete")} />
    </>
  );
}

/** The entries of the menu; `ask` opens the dialog of one that is confirmed first. */
function useActs(mapping: ReadMappingData, ask: (question: Asked) => void) {
  const { refusal } = useScopes();
  const say = useSay();
  const restore = useAct(() => ({ method: "POST", path: `/mappings/${mapping.id}/restore` }));
  const abort = useAct<{ aborted: boolean }>(() => ({ method: "POST", path: `/mappings/${mapping.id}/abort` }));
  const onRestore = () =>
    restore.mutate(undefined, {
      onSuccess: () => say.done("Restored", "It is paused. Activated, it begins with a comparison of both sides."),
      onError: say.failed,
    });
  const onAbort = () =>
    abort.mutate(undefined, {
      onSuccess: ({ data }) =>
        data.aborted
          ? say.done("The cycle stops at its next batch")
          : say.done("Nothing was running", "There is nothing to abort between two cycles."),
      onError: say.failed,
    });

  const whenDeleted: MenuAct[] = [
    {
      name: "Restore",
      icon: <ArchiveRestore size={16} aria-hidden />,
      onAct: onRestore,
      refused: refusal("admin"),
    },
  ];
  const whenKept: MenuAct[] = [
    {
      name: "Abort the running cycle",
      icon: <CircleStop size={16} aria-hidden />,
      refused: refusal("operate"),
      onAct: onAbort,
    },
    {
      name: "Read everything again",
      icon: <RotateCcw size={16} aria-hidden />,
      refused: refusal("admin") ?? (mapping.sync_direction === "pg_to_sf" ? "It only writes to Salesforce." : null),
      onAct: () => ask("reload"),
    },
    {
      name: "Push existing rows",
      icon: <Upload size={16} aria-hidden />,
      refused: refusal("admin") ?? (mapping.sync_direction === "sf_to_pg" ? "It only reads Salesforce." : null),
      onAct: () => ask("push"),
    },
    {
      name: "Delete mapping",
      icon: <Trash2 size={16} aria-hidden />,
      danger: true,
      refused: refusal("admin"),
      onAct: () => ask("delete"),
    },
  ];
  return { whenDeleted, whenKept };
}

interface Question {
  readonly mapping: ReadMappingData;
  readonly open: boolean;
  readonly onClose: () => void;
}

function ConfirmReload({ mapping, open, onClose }: Question) {
  const say = useSay();
  const reload = useAct(() => ({ method: "POST", path: `/mappings/${mapping.id}/reload` }));
  const close = () => {
    reload.reset();
    onClose();
  };
  const onSuccess = () => {
    close();
    say.done("The load begins", "It runs beside the cycles and can be interrupted.");
  };
  return (
    <Confirm
      open={open}
      onClose={close}
      title={`Read every record of ${mapping.sf_object} again?`}
      act="Read everything again"
      kind="primary"
      busy={reload.isPending}
      error={reload.error}
      onAct={() => reload.mutate(undefined, { onSuccess })}
    >
      <p>
        It costs a call for every 2,000 records. Rows that differ are corrected; nothing is deleted that Salesforce has.
      </p>
    </Confirm>
  );
}

function ConfirmPush({ mapping, open, onClose }: Question) {
  const say = useSay();
  const push = useAct<PushExistingData>(() => ({ method: "POST", path: `/mappings/${mapping.id}/push-existing` }));
  const close = () => {
    push.reset();
    onClose();
  };
  const onSuccess = ({ data }: { readonly data: PushExistingData }) => {
    close();
    say.done(
      `${counted(data.queued, "row")} will be sent`,
      data.more ? "There are more: push again when these are through." : undefined,
    );
  };
  return (
    <Confirm
      open={open}
      onClose={close}
      title="Push rows that have no Salesforce record?"
      act="Push existing rows"
      kind="primary"
      busy={push.isPending}
      error={push.error}
      onAct={() => push.mutate(undefined, { onSuccess })}
    >
      <p>
        Every row of <code>{mapping.pg_table}</code> without an <code>sfid</code> is sent as if it were inserted now.
        {mapping.upsert_field
          ? " Records that the upsert field finds are updated instead."
          : " Without an upsert field, each makes a new record."}
      </p>
    </Confirm>
  );
}

function ConfirmDelete({ mapping, open, onClose }: Question) {
  const say = useSay();
  const remove = useAct(() => ({ method: "DELETE", path: `/mappings/${mapping.id}` }));
  const close = () => {
    remove.reset();
    onClose();
  };
  const onSuccess = () => {
    close();
    go(hrefOf("/mappings"));
    say.done(`The mapping of ${mapping.sf_object} is deleted`, "Table and rows stay.");
  };
  return (
    <Confirm
      open={open}
      onClose={close}
      title={`Delete the mapping of ${mapping.sf_object}?`}
      act="Delete mapping"
      busy={remove.isPending}
      error={remove.error}
      onAct={() => remove.mutate(undefined, { onSuccess })}
    >
      <p>
        Nothing travels any more and changes are no longer captured. The table <code>{mapping.pg_table}</code> stays
        with all its rows, and nothing happens in Salesforce. The mapping can be restored.
      </p>
    </Confirm>
  );
}
