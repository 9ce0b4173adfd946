import { Handshake } from "lucide-react";
import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { List } from "../../parts/list.tsx";
import { Empty } from "../../parts/page.tsx";
import { PagedCard } from "../../parts/paged-card.tsx";
import { Time } from "../../parts/time.tsx";
import { go, hrefOf, usePlace } from "../../route.ts";
import { ActivityFrame } from "./activity-frame.tsx";

/** Fields that changed on both sides, and who won. */
export function Conflicts() {
  const offset = Number(usePlace().query.get("offset") ?? 0);
  const asked = questions.conflicts({ offset, limit: 50 });
  const answer = useAnswer(asked, { everySeconds: 10, keepsPrevious: true });
  return (
    <ActivityFrame>
      <PagedCard
        answer={answer}
        onGo={(to) => go(hrefOf("/activity/conflicts", { offset: to ? String(to) : undefined }), "replace")}
        empty={
          <Empty icon={<Handshake size={24} aria-hidden />} title="No field was changed on both sides at once">
            When that happens, the mapping's policy decides, and both values are kept here.
          </Empty>
        }
      >
        <List
          caption="Conflicts, the latest first"
          head={
            <>
              <th>Field</th>
              <th>PostgreSQL</th>
              <th>Salesforce</th>
              <th className="wide">Before</th>
              <th className="wide">Winner</th>
              <th className="wide">When</th>
            </>
          }
        >
          {answer.data?.data.map((conflict) => (
            <tr key={conflict.id}>
              <td>
                {conflict.sf_object} <span className="mono">{conflict.field ?? "the whole record"}</span>
                <span className="sub mono">{conflict.sfid}</span>
              </td>
              <td className="breaks">{conflict.postgres ?? <span className="muted mono">NULL</span>}</td>
              <td className="breaks">{conflict.salesforce ?? <span className="muted mono">NULL</span>}</td>
              <td className="wide breaks">{conflict.base ?? <span className="muted mono">NULL</span>}</td>
              <td className="wide">{conflict.winner}</td>
              <td className="wide once">
                <Time at={conflict.at} />
              </td>
            </tr>
          ))}
        </List>
      </PagedCard>
    </ActivityFrame>
  );
}
