import type { ListDeliveriesData, RetryDeliveryData } from "bridge/api";
import { RotateCw, Send } from "lucide-react";
import { useState } from "react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAct, useActOnEach, useAnswer } from "../../api/use.ts";
import { ActButton } from "../../parts/acts/act-button.tsx";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { turned } from "../../parts/list.tsx";
import { ListCard } from "../../parts/list-card.tsx";
import { Empty } from "../../parts/page.tsx";
import { Ago } from "../../parts/time.tsx";
import { useSay } from "../../parts/toast.tsx";
import { counted } from "../../parts/words.ts";
import { go, hrefOf, usePlace } from "../../route.ts";
import { DeliveryHistory } from "./delivery.tsx";
import { EVENTS } from "./events.ts";

const TONES: Record<ListDeliveriesData["status"], Tone> = { pending: "busy", successful: "good", failed: "bad" };

/** What was sent to a webhook, and what came back; those that are chosen are sent again together. */
export function Deliveries({ webhookId }: { readonly webhookId: string }) {
  const { path, query } = usePlace();
  const at = Object.fromEntries(query);
  const filter = { status: at["status"], event: at["event"] };
  const offset = Number(at["offset"] ?? 0);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const asked = questions.deliveries(webhookId, { ...filter, limit: 50, offset, subjects: true });
  const answer = useAnswer(asked, { everySeconds: 3, keepsPrevious: true });
  const unchoose = (id: string) => setChosen((before) => new Set([...before].filter((other) => other !== id)));
  const turn = (part: Readonly<Record<string, string | undefined>>) => {
    setChosen(new Set());
    go(hrefOf(path, { ...filter, ...part }), "replace");
  };
  const show = (delivery?: string) => go(hrefOf(path, { ...at, delivery }), "replace");
  const ids = answer.data?.data.map(({ id }) => id) ?? [];
  const isAll = ids.length > 0 && ids.every((id) => chosen.has(id));
  return (
    <>
      <div className="head">
        <div className="filters">
          <Filter
            name="Status"
            all="Every status"
            value={filter.status}
            values={Object.keys(TONES)}
            onTurn={(status) => turn({ status })}
          />
          <Filter
            name="Event"
            all="Every event"
            value={filter.event}
            values={EVENTS.map(({ type }) => type)}
            onTurn={(event) => turn({ event })}
          />
        </div>
        <SendAgain webhookId={webhookId} ids={[...chosen]} onSent={unchoose} />
      </div>
      <ListCard
        title="Deliveries of the last 30 days"
        answer={answer}
        onGo={(to) => turn({ offset: to ? String(to) : undefined })}
        empty={
          <Empty
            icon={<Send size={24} aria-hidden />}
            title={filter.status || filter.event ? "No such deliveries" : "Nothing was sent yet"}
          >
            {filter.status || filter.event
              ? "Remove a filter to see more."
              : "Send a test, and see here what your endpoint answers."}
          </Empty>
        }
        caption="Deliveries, the latest first"
        choose={
          <input
            type="checkbox"
            aria-label="Choose all of this page"
            checked={isAll}
            onChange={() => setChosen(new Set(isAll ? [] : [...chosen, ...ids]))}
          />
        }
        head={["Event", "Status", ["Answer", "wide number"], ["Last attempt", "wide"], ["Next", "wide"]]}
        acts
      >
        {(delivery) => (
          <tr key={delivery.id}>
            <td>
              <input
                type="checkbox"
                aria-label={`Choose ${delivery.event} ${delivery.id}`}
                checked={chosen.has(delivery.id)}
                onChange={() => setChosen(turned(chosen, delivery.id))}
              />
            </td>
            <td>
              <button type="button" className="as-link mono" onClick={() => show(delivery.id)}>
                {delivery.event}
              </button>
              {delivery.subject && <Subject subject={delivery.subject} />}
            </td>
            <td>
              <Badge tone={TONES[delivery.status]}>{delivery.status}</Badge>
            </td>
            <td className="wide number">{delivery.response_code ?? "none"}</td>
            <td className="wide once">
              <Ago at={delivery.delivered_at} none="–" />
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
      <Dialog open={at["delivery"] !== undefined} onClose={() => show()} title="Delivery" broad>
        {at["delivery"] && <DeliveryHistory webhookId={webhookId} id={at["delivery"]} />}
      </Dialog>
    </>
  );
}

interface FilterProps {
  readonly name: string;
  readonly all: string;
  readonly value: string | undefined;
  readonly values: readonly string[];
  readonly onTurn: (value: string) => void;
}

function Filter({ name, all, value = "", values, onTurn }: FilterProps) {
  return (
    <select className="input compact" aria-label={name} value={value} onChange={({ target }) => onTurn(target.value)}>
      <option value="">{all}</option>
      {values.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  );
}

/** The row, or the mapping, that the delivery is about. */
function Subject({ subject }: { readonly subject: NonNullable<ListDeliveriesData["subject"]> }) {
  const { mapping_id, sf_object, table_name, record_id } = subject;
  const isOfRow = table_name !== null && record_id !== null;
  return (
    <a
      className="sub"
      href={isOfRow ? hrefOf(`/rows/${table_name}`, { key: String(record_id) }) : hrefOf(`/mappings/${mapping_id}`)}
    >
      {sf_object}
      {isOfRow && `, ${table_name} ${record_id}`}
    </a>
  );
}

/** Sends deliveries one after the other, also those that have moved to another page since they were chosen. */
function SendAgain({
  webhookId,
  ids,
  onSent,
}: {
  readonly webhookId: string;
  readonly ids: readonly string[];
  readonly onSent: (id: string) => void;
}) {
  const { refusal } = useScopes();
  const say = useSay();
  const retry = useActOnEach<RetryDeliveryData>((id) => ({
    method: "POST",
    path: `/webhooks/${webhookId}/deliveries/${id}/retry`,
  }));
  const run = async () => {
    const sent = await retry.mutateAsync({ ids, onDone: onSent });
    const chosen = counted(ids.length, "delivery", "deliveries");
    if (sent.refusal) say.stopped(`${sent.done} of ${chosen} sent again`, sent.refusal);
    else say.done(`${chosen} sent again`, "The answers appear in a moment.");
  };
  if (ids.length === 0) return null;
  return (
    <Button
      kind="primary"
      compact
      icon={<RotateCw size={14} aria-hidden />}
      busy={retry.isPending}
      refused={refusal("operate")}
      onClick={() => void run().catch(say.failed)}
    >
      Send {ids.length} again
    </Button>
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
