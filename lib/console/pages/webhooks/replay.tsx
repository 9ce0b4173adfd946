import type { ReadWebhookData, ReplayWebhookData } from "bridge/api";
import { type FormEvent, useState } from "react";
import { useAct } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { useSay } from "../../parts/toast.tsx";
import { Trouble } from "../../parts/trouble.tsx";

const DAY_MILLISECONDS = 86_400_000;

/** Sends again what a webhook missed from a time on. */
export function Replay({ webhook, onDone }: { readonly webhook: ReadWebhookData; readonly onDone: () => void }) {
  const [since, setSince] = useState(webhook.failing_since ?? new Date(Date.now() - DAY_MILLISECONDS).toISOString());
  const say = useSay();
  const replay = useAct<ReplayWebhookData, string | undefined>((before_id) => ({
    method: "POST",
    path: `/webhooks/${webhook.id}/replay`,
    query: { since, before_id },
  }));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    let queued = 0;
    for (let next: string | null | undefined; next !== null; ) {
      const { data } = await replay.mutateAsync(next);
      queued += data.queued;
      next = data.next;
    }
    onDone();
    say.done(queued === 0 ? "Nothing was missed since then" : `Deliveries that are sent again: ${queued}`);
  };
  return (
    <Dialog open onClose={onDone} title="Replay what was missed">
      <form className="form" onSubmit={(event) => void submit(event).catch(() => {})}>
        <p>Deliveries that were given up, or due while the webhook was paused, are sent again.</p>
        <Field
          label="Since"
          hint="A time such as 2026-01-31T08:00:00Z, or a day"
          value={since}
          onChange={({ target }) => setSince(target.value)}
          required
        />
        {replay.error && <Trouble error={replay.error} title="Not everything was queued." />}
        <div className="acts">
          <Button onClick={onDone}>Cancel</Button>
          <Button kind="primary" type="submit" busy={replay.isPending}>
            Replay
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
