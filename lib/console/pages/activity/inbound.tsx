import type { RetryInboundData } from "bridge/api";
import { CircleCheck, RotateCw } from "lucide-react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { ListCard } from "../../parts/list-card.tsx";
import { Empty } from "../../parts/page.tsx";
import { Ago } from "../../parts/time.tsx";
import { useSay } from "../../parts/toast.tsx";
import { counted } from "../../parts/words.ts";
import { go, hrefOf, usePlace } from "../../route.ts";
import { ActivityFrame } from "./activity-frame.tsx";

/** Records that could not become rows, with what PostgreSQL said against them. */
export function Inbound() {
  const offset = Number(usePlace().query.get("offset") ?? 0);
  const asked = questions.inboundErrors({ offset, limit: 50 });
  const answer = useAnswer(asked, { everySeconds: 10, keepsPrevious: true });
  return (
    <ActivityFrame>
      <RetryAll />
      <ListCard
        answer={answer}
        onGo={(to) => go(hrefOf("/activity/inbound", { offset: to ? String(to) : undefined }), "replace")}
        empty={
          <Empty icon={<CircleCheck size={24} aria-hidden />} title="No inbound errors">
            If your table refuses a record, by a CHECK or a narrow column, it is listed here. Bridge tries it again when
            it changes and with each daily sweep. If another row is in its way, Bridge also retries for an hour.
          </Empty>
        }
        caption="Records that could not become rows"
        head={["Record", "What PostgreSQL said", ["Attempts", "wide number"], ["Last", "wide"]]}
        acts
      >
        {(record) => (
          <tr key={`${record.mapping_id} ${record.sfid}`}>
            <td>
              {record.sf_object ?? "deleted mapping"}
              <a className="sub mono" href={hrefOf(`/rows/${record.mapping_id}`, { key: record.sfid })}>
                {record.sfid}
              </a>
            </td>
            <td className="breaks mono small">{record.error}</td>
            <td className="wide number">{record.attempts}</td>
            <td className="wide once">
              <Ago at={record.last_at} />
            </td>
            <td className="acts-cell">
              <RetryRecord mappingId={record.mapping_id} sfid={record.sfid} />
            </td>
          </tr>
        )}
      </ListCard>
    </ActivityFrame>
  );
}

function useRetry(mappingIds: readonly string[], sfid?: string) {
  const say = useSay();
  const { refusal } = useScopes();
  const retry = useAct<RetryInboundData, string>((id) => ({
    method: "POST",
    path: `/mappings/${encodeURIComponent(id)}/retry-inbound`,
    query: { sfid },
  }));
  const run = async () => {
    let records = 0;
    for (const id of mappingIds) records += (await retry.mutateAsync(id)).data.retried;
    say.done(`${counted(records, "record")} will be read again`, "The next cycle reads them, within ten seconds.");
  };
  return { onClick: () => void run().catch(say.failed), busy: retry.isPending, refused: refusal("operate") };
}

function RetryRecord({ mappingId, sfid }: { readonly mappingId: string; readonly sfid: string }) {
  return (
    <Button compact aria-label={`Retry ${sfid}`} {...useRetry([mappingId], sfid)}>
      Retry
    </Button>
  );
}

/** What refused a record is often one constraint, so all are tried again once it is gone. */
function RetryAll() {
  const { data } = useAnswer(questions.mappings);
  const waiting = data?.data.filter(({ inbound_errors }) => inbound_errors) ?? [];
  const retry = useRetry(waiting.map(({ id }) => id));
  if (waiting.length === 0) return null;
  return (
    <div className="acts">
      <Button compact icon={<RotateCw size={14} aria-hidden />} {...retry}>
        Retry everything
      </Button>
    </div>
  );
}
