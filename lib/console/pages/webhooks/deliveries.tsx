import type { ListDeliveriesData, RetryDeliveryData } from "bridge/api";
import { RotateCw, Send } from "lucide-react";
import { useState } from "react";
import { questions } from "../../api/questions.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { ActButton } from "../../parts/acts/act-button.tsx";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { ListCard } from "../../parts/list-card.tsx";
import { Empty } from "../../parts/page.tsx";
import { Ago, Time } from "../../parts/time.tsx";
import { go, hrefOf, usePlace } from "../../route.ts";
import { DeliveryHistory } from "./delivery.tsx";

const TONES: Record<ListDeliveriesData["status"], Tone> = { pending: "busy", successful: "good", failed: "bad" };

/** What was sent to a webhook, and what came back. */
export function Deliveries({ webhookId }: { readonly webhookId: string }) {
  const { path, query } = usePlace();
  const offset = Number(query.get("offset") ?? 0);
  const [shown, setShown] = useState<string | null>(null);
  const asked = questions.deliveries(webhookId, { limit: 50, offset });
  const answer = useAnswer(asked, { everySeconds: 3, keepsPrevious: true });
  return (
    <>
      <ListCard
        title="Deliveries of the last 30 days"
        answer={answer}
        onGo={(to) => go(hrefOf(path, { offset: to ? String(to) : undefined }), "replace")}
        empty={
          <Empty icon={<Send size={24} aria-hidden />} title="Nothing was sent yet">
            Send a test, and see here what your endpoint answers.
          </Empty>
        }
        caption="Deliveries, the latest first"
        head={["Event", "Status", ["Answer", "wide number"], ["Last attempt", "wide"], ["Next", "wide"]]}
        acts
      >
        {(delivery) => (
          <tr key={delivery.id}>
            <td>
              <button type="button" className="as-link mono" onClick={() => setShown(delivery.id)}>
                {delivery.event}
              </button>
            </td>
            <td>
              <Badge tone={TONES[delivery.status]}>{delivery.status}</Badge>
            </td>
            <td className="wide number">{delivery.response_code ?? "none"}</td>
            <td className="wide once">
              <Time at={delivery.delivered_at} />
            </td>
            <td className="wide once">
              <Ago at={delivery.next_retry_at} none="–" />
            </td>
            <td className="acts-cell">
              <RetryDelivery webhookId={webhookId} delivery={delivery} />
            </td>
          </tr>
        )}
      </ListCard>
      <Dialog open={shown !== null} onClose={() => setShown(null)} title="Delivery" broad>
        {shown && <DeliveryHistory webhookId={webhookId} id={shown} />}
      </Dialog>
    </>
  );
}

function RetryDelivery({ webhookId, delivery }: { readonly webhookId: string; readonly delivery: ListDeliveriesData }) {
  const retry = useAct<RetryDeliveryData>(() => ({
    method: "POST",
    path: `/webhooks/${webhookId}/deliveries/${delivery.id}/retry`,
  }));
  return (
    <ActButton
      act={retry}
      scope="operate"
      done={() => ["It is sent again", "Its answer appears in a moment."]}
      compact
      kind="plain"
      icon={<RotateCw size={14} aria-hidden />}
      aria-label={`Retry ${delivery.event}`}
    >
      Retry
    </ActButton>
  );
}
