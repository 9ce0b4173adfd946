import type { ListHeldDeletesData, ReadMappingData } from "bridge/api";
import { useState } from "react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAnswer } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { List, turned } from "../../parts/list.tsx";
import { Card } from "../../parts/page.tsx";
import { Pager } from "../../parts/pager.tsx";
import { Ago } from "../../parts/time.tsx";
import { Notice, Trouble } from "../../parts/trouble.tsx";
import { count, counted } from "../../parts/words.ts";
import { type Chosen, ConfirmReject, ConfirmRelease } from "./decide-deletes.tsx";

/** Deletes that the breaker holds, with their names: all of them, or those that are chosen, are released or rejected. */
export function DeletesOnHold({ mapping }: { readonly mapping: ReadMappingData }) {
  const [chosen, setChosen] = useState<Chosen>(new Set());
  const [asks, setAsks] = useState<"release" | "reject" | null>(null);
  const { refusal } = useScopes();
  const held = mapping.held_deletes ?? 0;
  const figure = chosen.size || held;
  const which = chosen.size > 0 ? count(figure) : held === 1 ? "it" : `all ${count(figure)}`;
  const onClose = () => {
    setAsks(null);
    setChosen(new Set());
  };
  return (
    <>
      <Notice
        tone="warn"
        title={`${counted(mapping.sent_deletes ?? 0, "delete")} sent in the last hour, ${count(held)} on hold`}
        acts={
          <>
            <Button kind="danger" compact refused={refusal("admin")} onClick={() => setAsks("release")}>
              Release {which}
            </Button>
            <Button compact refused={refusal("admin")} onClick={() => setAsks("reject")}>
              Reject {which}
            </Button>
          </>
        }
      >
        Either more {mapping.sf_object} deletes came within an hour than the limit ({mapping.delete_limit}) allows, or a
        sweep found rows whose records Salesforce does not return: deleted for good, or hidden from the connected user.
        Everything else is synced as usual. Release the deletes that were meant, and reject the others to undo them.
      </Notice>
      <Held
        mapping={mapping}
        chosen={chosen}
        onChoose={setChosen}
        onAsk={(key, act) => {
          setChosen(new Set([key]));
          setAsks(act);
        }}
      />
      {asks === "release" && <ConfirmRelease mapping={mapping} chosen={chosen} figure={figure} onClose={onClose} />}
      {asks === "reject" && <ConfirmReject mapping={mapping} chosen={chosen} onClose={onClose} />}
    </>
  );
}

interface HeldProps {
  readonly mapping: ReadMappingData;
  readonly chosen: Chosen;
  readonly onChoose: (chosen: Chosen) => void;
  /** Asks about one of them alone. */
  readonly onAsk: (key: string, act: "release" | "reject") => void;
}

/** One page of them; a choice holds for its page. */
function Held({ mapping, chosen, onChoose, onAsk }: HeldProps) {
  const [offset, setOffset] = useState(0);
  const asked = questions.heldDeletes(mapping.id, { limit: 20, offset });
  const { data, error, refetch } = useAnswer(asked, { everySeconds: 10, keepsPrevious: true });
  if (error && !data) return <Trouble error={error} again={() => void refetch()} />;
  if (!data || data.data.length === 0) return null;
  const goTo = (to: number) => {
    onChoose(new Set());
    setOffset(to);
  };
  const keys = data.data.map(({ key }) => key);
  const isAll = keys.every((key) => chosen.has(key));
  return (
    <Card title="Deletes on hold" padded={false} foot={<Pager meta={data.meta} onGo={goTo} />}>
      <List
        caption="Deletes on hold, the oldest first"
        choose={
          <input
            type="checkbox"
            aria-label="Choose all of this page"
            checked={isAll}
            onChange={() => onChoose(new Set(isAll ? [] : keys))}
          />
        }
        head={["Name, and what would be deleted", ["Record", "wide"], ["Row", "wide number"], ["Held", "wide"]]}
        acts
      >
        {data.data.map((one) => (
          <Row
            key={one.key}
            one={one}
            table={mapping.pg_table}
            isChosen={chosen.has(one.key)}
            onTurn={() => onChoose(turned(chosen, one.key))}
            onAsk={(act) => onAsk(one.key, act)}
          />
        ))}
      </List>
    </Card>
  );
}

interface RowProps {
  readonly one: ListHeldDeletesData;
  readonly table: string;
  readonly isChosen: boolean;
  readonly onTurn: () => void;
  readonly onAsk: (act: "release" | "reject") => void;
}

function Row({ one: { deletes, name, sfid, record_id, at }, table, isChosen, onTurn, onAsk }: RowProps) {
  const called = name ?? sfid ?? `row ${record_id}`;
  const { refusal } = useScopes();
  const refused = refusal("admin");
  return (
    <tr>
      <td>
        <input type="checkbox" aria-label={`Choose ${called}`} checked={isChosen} onChange={onTurn} />
      </td>
      <td className="breaks">
        {called}
        <span className="sub">{deletes === "row" ? `the row in ${table}` : "the record in Salesforce"}</span>
      </td>
      <td className="wide mono">{sfid ?? "–"}</td>
      <td className="wide number">{record_id ?? "–"}</td>
      <td className="wide once">
        <Ago at={at} />
      </td>
      <td className="acts-cell">
        <Button
          compact
          kind="plain"
          refused={refused}
          aria-label={`Release ${called} alone`}
          onClick={() => onAsk("release")}
        >
          Release
        </Button>
        <Button
          compact
          kind="plain"
          refused={refused}
          aria-label={`Reject ${called} alone`}
          onClick={() => onAsk("reject")}
        >
          Reject
        </Button>
      </td>
    </tr>
  );
}
