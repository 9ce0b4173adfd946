import type { ListWebhooksData } from "bridge/api";
import { Plus, Webhook } from "lucide-react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAnswer } from "../../api/use.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { ListCard } from "../../parts/list-card.tsx";
import { Empty, Page } from "../../parts/page.tsx";
import { Ago } from "../../parts/time.tsx";
import { counted } from "../../parts/words.ts";
import { go, hrefOf } from "../../route.ts";
import { DeliveryStrip } from "./strip.tsx";

/** The workspace's webhooks. */
export function Webhooks() {
  const { refusal } = useScopes();
  return (
    <Page
      title="Webhooks"
      says="Your own endpoints, which receive signed events."
      acts={
        <Button
          kind="primary"
          icon={<Plus size={16} aria-hidden />}
          refused={refusal("admin")}
          onClick={() => go(hrefOf("/webhooks/new"))}
        >
          New webhook
        </Button>
      }
    >
      <Table />
    </Page>
  );
}

/** What a webhook does now. */
export function WebhookState({
  webhook,
}: {
  readonly webhook: Pick<ListWebhooksData[number], "active" | "failing_since" | "given_up">;
}) {
  if (!webhook.active) return <Badge>paused</Badge>;
  if (webhook.given_up) return <Badge tone="bad">failing for good</Badge>;
  return webhook.failing_since ? <Badge tone="bad">failing</Badge> : <Badge tone="good">active</Badge>;
}

/** Each strip is a question of its own; more would spend the requests that an address has. */
const STRIPS = 20;

function Table() {
  const answer = useAnswer(questions.webhooks, { everySeconds: 10 });
  return (
    <ListCard
      answer={answer}
      lines={4}
      empty={
        <Empty
          icon={<Webhook size={24} aria-hidden />}
          title="No webhooks yet"
          acts={
            <a className="button primary" href={hrefOf("/webhooks/new")}>
              New webhook
            </a>
          }
        >
          Register a URL of yours. It is called within seconds when sync stops or a row fails.
        </Empty>
      }
      caption="Webhooks"
      head={["URL", "State", ["Last deliveries", "wide"], ["Events", "wide"], ["Created", "wide"]]}
    >
      {(webhook, index) => (
        <tr key={webhook.id}>
          <td className="breaks">
            <a className="row-link" href={hrefOf(`/webhooks/${webhook.id}`)}>
              {webhook.url}
            </a>
            {webhook.description && <span className="sub">{webhook.description}</span>}
          </td>
          <td>
            <WebhookState webhook={webhook} />
          </td>
          <td className="wide">{index < STRIPS && <DeliveryStrip webhookId={webhook.id} />}</td>
          <td className="wide" title={webhook.events.join(", ")}>
            {counted(webhook.events.length, "event")}
          </td>
          <td className="wide once">
            <Ago at={webhook.created_at} />
          </td>
        </tr>
      )}
    </ListCard>
  );
}
