import type { ReadWebhookData, ReplayWebhookData } from "bridge/api";
import { useAct } from "../../api/use.ts";
import { ActForm, useFields } from "../../parts/acts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { useSay } from "../../parts/toast.tsx";

const DAY_MILLISECONDS = 86_400_000;

/** Sends again what a webhook missed from a time on. */
export function Replay({ webhook, onDone }: { readonly webhook: ReadWebhookData; readonly onDone: () => void }) {
  const say = useSay();
  const { texts, field } = useFields({
    since: webhook.failing_since ?? new Date(Date.now() - DAY_MILLISECONDS).toISOString(),
  });
  const replay = useAct<ReplayWebhookData, string | undefined>((before_id) => ({
    method: "POST",
    path: `/webhooks/${webhook.id}/replay`,
    query: { ...texts, before_id },
  }));
  const run = async () => {
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
    <Dialog open onClose={onDone} title="Replay missed deliveries">
      <ActForm
        act={replay}
        onSubmit={() => void run().catch(() => {})}
        button="Replay"
        failed="Not everything was queued."
        before={<Button onClick={onDone}>Cancel</Button>}
      >
        <p>Deliveries that were given up, or due while the webhook was paused, are sent again.</p>
        <Field label="Since" hint="A time such as 2026-01-31T08:00:00Z, or a day" {...field("since")} required />
      </ActForm>
    </Dialog>
  );
}
