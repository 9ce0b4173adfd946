import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { clock } from "../../parts/words.ts";

const SHOWN = 40;

/** The latest deliveries as a strip, the newest on the right. */
export function DeliveryStrip({ webhookId }: { readonly webhookId: string }) {
  const { data } = useAnswer(questions.deliveries(webhookId, { limit: 50 }), { everySeconds: 60 });
  const deliveries = (data?.data ?? []).slice(0, SHOWN).toReversed();
  if (data && deliveries.length === 0) return <span className="muted small">none yet</span>;
  const successful = deliveries.filter(({ status }) => status === "successful").length;
  return (
    <span
      className="strip"
      role="img"
      aria-label={`${successful} of the last ${deliveries.length} deliveries successful`}
    >
      {deliveries.map(({ id, status, event, delivered_at }) => (
        <i key={id} className={status} title={`${event}, ${status}${delivered_at ? `, ${clock(delivered_at)}` : ""}`} />
      ))}
    </span>
  );
}
