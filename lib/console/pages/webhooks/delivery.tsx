import type { ReadDeliveryData } from "bridge/api";
import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { Badge } from "../../parts/badge.tsx";
import { Code } from "../../parts/code.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Bones } from "../../parts/page.tsx";
import { Ago } from "../../parts/time.tsx";
import { Notice, Trouble } from "../../parts/trouble.tsx";
import { duration, sentence } from "../../parts/words.ts";

type Attempt = ReadDeliveryData["attempts"][number];

/** A delivery with every attempt: what was sent, what came back, how long it took, and why it failed. */
export function DeliveryHistory({ webhookId, id }: { readonly webhookId: string; readonly id: string }) {
  const { data, error, refetch } = useAnswer(questions.delivery(webhookId, id), { everySeconds: 3 });
  if (error && !data) return <Trouble error={error} again={() => void refetch()} />;
  if (!data) return <Bones lines={8} />;
  const delivery = data.data;
  return (
    <div className="stack">
      {delivery.stopped_because && <Notice tone="warn" title={sentence(delivery.stopped_because)} />}
      <dl className="facts">
        <dt>Event</dt>
        <dd className="mono">{delivery.event}</dd>
        <dt>Created</dt>
        <dd>
          <Ago at={delivery.created_at} />
        </dd>
        <dt>Next attempt</dt>
        <dd>
          <Ago at={delivery.next_retry_at} none="none is planned" />
        </dd>
      </dl>
      <section className="stack tight" aria-label="Attempts">
        <h3>Attempts</h3>
        {delivery.attempts.length === 0 && <p className="muted">The first one is on its way.</p>}
        {delivery.attempts.toReversed().map((attempt) => (
          <AttemptCard key={attempt.number} attempt={attempt} />
        ))}
      </section>
      <section className="stack tight">
        <div className="head">
          <h3>Request</h3>
          <Copy text={delivery.request_body} name="request body" />
        </div>
        <dl className="facts small mono">
          <dt>Content-Type</dt>
          <dd>application/json</dd>
          <dt>X-Bridge-Event</dt>
          <dd>{delivery.event}</dd>
          <dt>X-Bridge-Delivery</dt>
          <dd>{delivery.id}</dd>
          <dt>webhook-id</dt>
          <dd>{delivery.event_id}</dd>
          <dt>X-Bridge-Signature</dt>
          <dd>sha256=… made for each attempt, never kept</dd>
        </dl>
        <Code text={pretty(delivery.request_body)} label="Request body" />
      </section>
    </div>
  );
}

function AttemptCard({ attempt }: { readonly attempt: Attempt }) {
  const { number, kind, started_at, duration_ms, succeeded, response_code, response_body, reason } = attempt;
  return (
    <div className="attempt">
      <div className="head-line">
        <Badge tone={succeeded === null ? "busy" : succeeded ? "good" : "bad"}>
          {response_code ?? (succeeded === null ? "under way" : "no answer")}
        </Badge>
        <span>
          Attempt {number}
          {kind === "manual" && " by hand"}
        </span>
        <span className="muted small">
          <Ago at={started_at} />
          {duration_ms !== null && `, ${duration(duration_ms / 1000)}`}
        </span>
      </div>
      {reason && <p>{sentence(reason)}</p>}
      {response_body && (
        <Code
          text={`${response_body}${attempt.response_body_truncated ? "\n… (the first KB is kept)" : ""}`}
          label={`Answer to attempt ${number}`}
        />
      )}
    </div>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
