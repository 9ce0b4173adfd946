import type { ReadHealthData } from "bridge/api";
import type { ReactNode } from "react";
import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Ago } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { count } from "../../parts/words.ts";

const SIDE_TONES: Record<ReadHealthData["pg"]["status"], Tone> = {
  healthy: "good",
  degraded: "warn",
  error: "bad",
  unknown: "quiet",
};
const ENGINE_TONES: Record<ReadHealthData["sync"]["status"], Tone> = {
  running: "good",
  paused: "quiet",
  broken: "bad",
  unknown: "quiet",
};

/** Both sides and what runs between them. */
export function Health() {
  const { data, error, refetch } = useAnswer(questions.health, { everySeconds: 5 });
  if (error && !data)
    return <Trouble error={error} again={() => void refetch()} title="The health could not be read." />;
  const health = data?.data;
  return (
    <div className="columns">
      <Tile name="PostgreSQL" state={health && <Badge tone={SIDE_TONES[health.pg.status]}>{health.pg.status}</Badge>}>
        {health?.pg.latency_ms == null ? (
          "–"
        ) : (
          <>
            {count(health.pg.latency_ms)} <small>ms a trip</small>
          </>
        )}
      </Tile>
      <Tile name="Salesforce" state={health && <Badge tone={SIDE_TONES[health.sf.status]}>{health.sf.status}</Badge>}>
        <small>{health?.sf.org_id ?? "not connected"}</small>
      </Tile>
      <Tile name="Engine" state={health && <Badge tone={ENGINE_TONES[health.sync.status]}>{health.sync.status}</Badge>}>
        {health?.sync.pending_rows == null ? (
          "–"
        ) : (
          <>
            {count(health.sync.pending_rows)} <small>rows wait</small>
          </>
        )}
        <div className="small muted">
          <Ago at={health?.sync.last_run_at} />
        </div>
      </Tile>
    </div>
  );
}

function Tile({
  name,
  state,
  children,
}: {
  readonly name: string;
  readonly state: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <section className="card tile">
      <div className="tile-head">
        <h2 className="small">{name}</h2>
        {state}
      </div>
      <div className="figure">{children}</div>
    </section>
  );
}
