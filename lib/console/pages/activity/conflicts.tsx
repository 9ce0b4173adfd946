import type { ListConflictsData, UseOtherValueData } from "bridge/api";
import { Handshake } from "lucide-react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { ActButton } from "../../parts/acts/act-button.tsx";
import { ListCard } from "../../parts/list-card.tsx";
import { POLICIES } from "../../parts/mapping-state.tsx";
import { Empty } from "../../parts/page.tsx";
import { Ago } from "../../parts/time.tsx";
import { go, hrefOf, usePlace } from "../../route.ts";
import { ActivityFrame } from "./activity-frame.tsx";

/** Fields that changed on both sides, who won and why, and the way to turn it. */
export function Conflicts() {
  const offset = Number(usePlace().query.get("offset") ?? 0);
  const asked = questions.conflicts({ offset, limit: 50 });
  const answer = useAnswer(asked, { everySeconds: 10, keepsPrevious: true });
  return (
    <ActivityFrame>
      <ListCard
        answer={answer}
        onGo={(to) => go(hrefOf("/activity/conflicts", { offset: to ? String(to) : undefined }), "replace")}
        empty={
          <Empty icon={<Handshake size={24} aria-hidden />} title="No conflicts">
            When that happens, the mapping's policy decides, and both values are kept here.
          </Empty>
        }
        caption="Conflicts, the latest first"
        head={["Field", "PostgreSQL", "Salesforce", ["Before", "wide"], ["Decided", "wide"]]}
        acts
      >
        {(conflict) => <Row key={conflict.id} conflict={conflict} />}
      </ListCard>
    </ActivityFrame>
  );
}

function Row({ conflict }: { readonly conflict: ListConflictsData }) {
  const { data } = useAnswer(questions.mappings);
  const mapping = data?.data.find(({ id }) => id === conflict.mapping_id);
  const hasWon = (side: string) => conflict.winner === side;
  return (
    <tr>
      <td>
        {conflict.sf_object} <span className="mono">{conflict.field ?? "the whole record"}</span>
        <a className="sub mono" href={hrefOf(`/rows/${conflict.mapping_id}`, { key: conflict.sfid })}>
          {conflict.sfid}
        </a>
      </td>
      <Side value={conflict.postgres} at={conflict.postgres_at} hasWon={hasWon("postgres")} />
      <Side value={conflict.salesforce} at={conflict.salesforce_at} hasWon={hasWon("salesforce")} />
      <td className="wide breaks">
        <Value of={conflict.base} />
      </td>
      <td className="wide once">
        <Ago at={conflict.at} />
        {mapping && (
          <span className="sub">
            <a href={hrefOf(`/mappings/${mapping.id}`)}>{POLICIES[mapping.conflict_policy]}</a>
          </span>
        )}
      </td>
      <td className="acts-cell">{conflict.field !== null && <UseOther conflict={conflict} />}</td>
    </tr>
  );
}

interface SideProps {
  readonly value: string | null;
  readonly at: string | null;
  readonly hasWon: boolean;
}

function Side({ value, at, hasWon }: SideProps) {
  return (
    <td className="breaks">
      <Value of={value} /> {hasWon && <span className="tag">won</span>}
      {at && (
        <span className="sub">
          written <Ago at={at} />
        </span>
      )}
    </td>
  );
}

function Value({ of }: { readonly of: string | null }) {
  const { may } = useScopes();
  return of ?? <span className="muted mono">{may("operate") ? "NULL" : "hidden"}</span>;
}

function UseOther({ conflict }: { readonly conflict: ListConflictsData }) {
  const use = useAct<UseOtherValueData>(() => ({
    method: "POST",
    path: `/monitoring/conflicts/${conflict.id}/use-other-value`,
  }));
  return (
    <ActButton
      act={use}
      scope="operate"
      done={() => ["The row has the other value now", "The next cycle sends it to Salesforce as a change of the row."]}
      compact
      aria-label={`Use the other value of ${conflict.field} of ${conflict.sfid}`}
    >
      Use the other value
    </ActButton>
  );
}
