import type { ReadWorkspaceData, SwitchPauseBody, SwitchPauseData } from "bridge/api";
import { Pause, Play } from "lucide-react";
import { useState } from "react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { ActForm, useFields } from "../../parts/acts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Time } from "../../parts/time.tsx";
import { useSay } from "../../parts/toast.tsx";
import { Notice } from "../../parts/trouble.tsx";

const useSwitch = () => useAct<SwitchPauseData, SwitchPauseBody>((body) => ({ method: "PUT", path: "/pause", body }));

/** Stops everything of the workspace, after saying what that means; while it is stopped, resumes it. */
export function PauseButton({ what }: { readonly what: string }) {
  const [asks, setAsks] = useState(false);
  const { refusal } = useScopes();
  const { data } = useAnswer(questions.workspace);
  if (!data) return null;
  if (data.data.pause?.scope === "workspace") return <Resume />;
  return (
    <>
      <Button icon={<Pause size={15} aria-hidden />} refused={refusal("operate")} onClick={() => setAsks(true)}>
        Pause all
      </Button>
      <PauseDialog what={what} open={asks} onClose={() => setAsks(false)} />
    </>
  );
}

interface PauseDialogProps {
  readonly what: string;
  readonly open?: boolean;
  readonly onClose: () => void;
}

/** Says what a pause of the whole workspace means, and asks for the reason. */
export function PauseDialog({ what, open = true, onClose }: PauseDialogProps) {
  return (
    <Dialog open={open} onClose={onClose} title={`Pause ${what}?`}>
      <Ask onDone={onClose} />
    </Dialog>
  );
}

function Ask({ onDone }: { readonly onDone: () => void }) {
  const { texts, field } = useFields({ reason: "" });
  const pause = useSwitch();
  const say = useSay();
  const reason = texts.reason.trim();
  const onSuccess = () => {
    onDone();
    say.done("Paused", "Running calls finish.");
  };
  return (
    <ActForm
      act={pause}
      onSubmit={() => pause.mutate({ paused: true, ...(reason && { reason }) }, { onSuccess })}
      button="Pause now"
      failed="The workspace was not paused."
    >
      <p>
        Running calls finish; then nothing is pulled, sent, compared or loaded. Changes of rows are still captured, and
        all of it continues when you resume. Mappings stay active, and webhooks are notified.
      </p>
      <Field
        label="Reason"
        {...field("reason")}
        autoFocus
        maxLength={300}
        placeholder="The org is being migrated"
        hint="For the audit log, and for other users of this workspace."
      />
    </ActForm>
  );
}

function Resume() {
  const { refusal } = useScopes();
  const say = useSay();
  const resume = useSwitch();
  return (
    <Button
      compact
      icon={<Play size={15} aria-hidden />}
      busy={resume.isPending}
      refused={refusal("operate")}
      onClick={() =>
        resume.mutate(
          { paused: false },
          {
            onSuccess: ({ data }) =>
              data.pause
                ? say.done("The deployment is still paused", "It continues when an operator resumes it.")
                : say.done("Resumed", "The changes captured meanwhile are sent now."),
            onError: say.failed,
          },
        )
      }
    >
      Resume
    </Button>
  );
}

/** Says on every page why nothing moves. */
export function PauseNotice({ pause }: { readonly pause: NonNullable<ReadWorkspaceData["pause"]> }) {
  const isOwn = pause.scope === "workspace";
  return (
    <Notice
      tone="warn"
      title={
        <>
          Paused since <Time at={pause.since} /> by {pause.by}
          {pause.reason && `: ${pause.reason}`}
        </>
      }
      acts={isOwn && <Resume />}
    >
      Changes of rows are captured and wait. {isOwn ? "" : "An operator paused the whole deployment and can resume it."}
    </Notice>
  );
}
