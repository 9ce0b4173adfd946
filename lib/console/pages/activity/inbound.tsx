import { CircleCheck } from "lucide-react";
import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { List } from "../../parts/list.tsx";
import { Empty } from "../../parts/page.tsx";
import { PagedCard } from "../../parts/paged-card.tsx";
import { Ago } from "../../parts/time.tsx";
import { go, hrefOf, usePlace } from "../../route.ts";
import { ActivityFrame } from "./activity-frame.tsx";

/** Records that could not become rows, with what PostgreSQL said against them. */
export function Inbound() {
  const offset = Number(usePlace().query.get("offset") ?? 0);
  const asked = questions.inboundErrors({ offset, limit: 50 });
  const answer = useAnswer(asked, { everySeconds: 10, keepsPrevious: true });
  return (
    <ActivityFrame>
      <PagedCard
        answer={answer}
        onGo={(to) => go(hrefOf("/activity/inbound", { offset: to ? String(to) : undefined }), "replace")}
        empty={
          <Empty icon={<CircleCheck size={24} aria-hidden />} title="Every record became a row">
            A record that your table refuses, by a CHECK or a column that is too narrow, is set aside here. It is tried
            again when it changes and with each daily sweep; where another row is in its way, soon and for an hour too.
          </Empty>
        }
      >
        <List
          caption="Records that could not become rows"
          head={
            <>
              <th>Record</th>
              <th>What PostgreSQL said</th>
              <th className="wide number">Attempts</th>
              <th className="wide">Last</th>
            </>
          }
        >
          {answer.data?.data.map((record) => (
            <tr key={`${record.mapping_id} ${record.sfid}`}>
              <td>
                {record.sf_object ?? "deleted mapping"}
                <span className="sub mono">{record.sfid}</span>
              </td>
              <td className="breaks mono small">{record.error}</td>
              <td className="wide number">{record.attempts}</td>
              <td className="wide once">
                <Ago at={record.last_at} />
              </td>
            </tr>
          ))}
        </List>
      </PagedCard>
    </ActivityFrame>
  );
}
