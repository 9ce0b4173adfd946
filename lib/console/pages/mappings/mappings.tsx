import type { ListMappingStatesData } from "bridge/api";
import { ArrowLeftRight, Plus } from "lucide-react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAnswer } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { ListCard } from "../../parts/list-card.tsx";
import { DIRECTIONS, MappingState } from "../../parts/mapping-state.tsx";
import { Empty, Page } from "../../parts/page.tsx";
import { Ago } from "../../parts/time.tsx";
import { count, duration } from "../../parts/words.ts";
import { go, hrefOf } from "../../route.ts";
import { PauseButton } from "../fleet/pause.tsx";
import { Compared } from "./compared.tsx";

/** Every mapping with what it does now. */
export function Mappings() {
  const answer = useAnswer(questions.mappings, { everySeconds: 5 });
  const { refusal } = useScopes();
  const create = (
    <Button
      kind="primary"
      icon={<Plus size={16} aria-hidden />}
      refused={refusal("admin")}
      onClick={() => go(hrefOf("/mappings/new"))}
    >
      New mapping
    </Button>
  );
  return (
    <Page
      title="Mappings"
      says="Each syncs one Salesforce object with one table."
      acts={
        <>
          {answer.data && answer.data.data.length > 0 && <PauseButton what="everything" />}
          {create}
        </>
      }
    >
      <ListCard
        answer={answer}
        lines={5}
        empty={
          <Empty
            icon={<ArrowLeftRight size={24} aria-hidden />}
            title="No mappings yet"
            acts={
              <>
                {create}
                <a className="button" href={hrefOf("/configuration/import")}>
                  Import a configuration
                </a>
              </>
            }
          >
            Choose an object of your org and the fields that you need; its table is created for you. An export of Heroku
            Connect can be imported as it is.
          </Empty>
        }
        caption="Mappings"
        head={[
          "Object and table",
          "State",
          ["Direction", "wider"],
          ["Pull interval", "wide number"],
          ["Last cycle", "wide"],
          ["Both sides", "wide"],
          ["Waiting", "number"],
          ["Failed", "number"],
        ]}
      >
        {(mapping) => <Row key={mapping.id} mapping={mapping} />}
      </ListCard>
    </Page>
  );
}

function Row({ mapping }: { readonly mapping: ListMappingStatesData[number] }) {
  const href = hrefOf(`/mappings/${mapping.id}`);
  return (
    <tr>
      <td>
        <a className="row-link" href={href}>
          {mapping.sf_object}
        </a>
        <span className="sub mono">{mapping.pg_table}</span>
      </td>
      <td>
        <MappingState mapping={mapping} />
        {mapping.reason && <span className="sub breaks">{mapping.reason}</span>}
      </td>
      <td className="wider">{DIRECTIONS[mapping.sync_direction]}</td>
      <td className="wide number">{duration(mapping.sf_polling_seconds)}</td>
      <td className="wide once">
        <Ago at={mapping.last_run_at} />
      </td>
      <td className="wide">
        <Compared compared={mapping.compared} />
      </td>
      <td className="number">{mapping.waiting === null ? "–" : count(mapping.waiting)}</td>
      <td className="number">
        {mapping.failed ? (
          <a href={hrefOf("/activity/failed", { table: mapping.pg_table })}>{count(mapping.failed)}</a>
        ) : (
          (mapping.failed ?? "–")
        )}
      </td>
    </tr>
  );
}
