import type { ListMappingStatesData, ReadHealthData } from "bridge/api";
import { questions } from "../../api/questions.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { ActButton } from "../../parts/acts/act-button.tsx";
import { Time } from "../../parts/time.tsx";
import { Notice } from "../../parts/trouble.tsx";
import { counted, sentence } from "../../parts/words.ts";
import { hrefOf } from "../../route.ts";

type Incident = NonNullable<ReadHealthData["incidents"]>[number];

/** What needs a user, the worst first; nothing when nothing does. */
export function Troubles({ mappings }: { readonly mappings: ListMappingStatesData }) {
  const health = useAnswer(questions.health, { everySeconds: 5 });
  const holding = mappings.filter(({ held_deletes }) => held_deletes);
  return (
    <>
      {health.data?.data.incidents?.map((incident) => (
        <Trouble key={incident.message} incident={incident} mappings={mappings} />
      ))}
      {holding.map((mapping) => (
        <Notice
          key={mapping.id}
          tone="warn"
          title={`${counted(mapping.held_deletes ?? 0, "delete")} of ${mapping.sf_object} ${mapping.held_deletes === 1 ? "is" : "are"} on hold`}
          acts={
            <a className="button compact" href={hrefOf(`/mappings/${mapping.id}`)}>
              Release or reject
            </a>
          }
        >
          More was deleted within an hour than the limit lets through. Everything else is synced as ever.
        </Notice>
      ))}
    </>
  );
}

interface TroubleProps {
  readonly incident: Incident;
  readonly mappings: ListMappingStatesData;
}

/** One cause: what happened, since when, what waits, when it is tried again, and the button that helps. */
function Trouble({ incident, mappings }: TroubleProps) {
  const { cause, stops, message, said, since, waiting, next_try_at, remedy, objects, commands } = incident;
  const concerned = mappings.find(({ sf_object }) => objects.includes(sf_object));
  const [label, href] = PLACES[cause] ?? ["Look at it", concerned ? `/mappings/${concerned.id}` : "/connections"];
  const isTried = commands.some((command) => command.startsWith("bridge poll "));
  return (
    <Notice
      tone={stops ? "bad" : "warn"}
      title={sentence(message)}
      acts={
        <>
          <a className="button compact" href={hrefOf(href)}>
            {label}
          </a>
          {isTried && concerned && <TryNow id={concerned.id} />}
        </>
      }
    >
      <p>
        {since && (
          <>
            Since <Time at={since} />.{" "}
          </>
        )}
        {waiting ? `${counted(waiting, "row waits", "rows wait")}. ` : ""}
        {next_try_at && (
          <>
            Next try <Time at={next_try_at} />.{" "}
          </>
        )}
        {sentence(remedy)}.
      </p>
      {said && <p className="small muted">{said}</p>}
    </Notice>
  );
}

function TryNow({ id }: { readonly id: string }) {
  const poll = useAct(() => ({ method: "POST", path: `/mappings/${id}/poll-now` }));
  return (
    <ActButton
      act={poll}
      scope="operate"
      done={() => ["It is tried again", "The result shows here in some seconds."]}
      compact
    >
      Try now
    </ActButton>
  );
}

/** Where the remedy of a cause is, if not on the mapping's page. */
const PLACES: Partial<Record<Incident["cause"], readonly [label: string, path: string]>> = {
  salesforce_authorization: ["Connect again", "/connections"],
  salesforce_limit: ["What uses them", "/budget"],
  calls_spared: ["What uses them", "/budget"],
  api_disabled: ["Connections", "/connections"],
  postgres_unavailable: ["Check the connection", "/connections"],
  rows_refused: ["See why", "/activity/failed"],
  webhook_failing: ["Webhooks", "/webhooks"],
  webhook_paused: ["Webhooks", "/webhooks"],
};
