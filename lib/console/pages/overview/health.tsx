import type { ReadBudgetData, ReadHealthData } from "bridge/api";
import type { ReactNode } from "react";
import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Ago } from "../../parts/time.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { count } from "../../parts/words.ts";
import { hrefOf } from "../../route.ts";

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
  degraded: "warn",
  unknown: "quiet",
};

/** Both sides, what runs between them, and what is left of the org's calls. */
export function Health() {
  const health = useAnswer(questions.health, { everySeconds: 5 });
  const budget = useAnswer(questions.budget, { everySeconds: 30 });
  const mappings = useAnswer(questions.mappings, { everySeconds: 5 });
  if (health.error && !health.data)
    return <Trouble error={health.error} again={() => void health.refetch()} title="The health could not be read." />;
  const seen = health.data?.data;
  const oldest = mappings.data?.data
    .flatMap(({ oldest_waiting_at }) => oldest_waiting_at ?? [])
    .toSorted()
    .at(0);
  const isSilent = seen?.pg.status === "error";
  return (
    <div className="tiles">
      <Tile
        name="Engine"
        state={seen && <Badge tone={ENGINE_TONES[seen.sync.status]}>{seen.sync.status}</Badge>}
        figure={isSilent || seen?.sync.pending_rows == null ? "–" : count(seen.sync.pending_rows)}
        unit={seen?.sync.pending_rows === 1 ? "row waits" : "rows wait"}
      >
        {isSilent ? (
          "unknown while PostgreSQL does not answer"
        ) : oldest ? (
          <>
            the oldest since <Ago at={oldest} />
          </>
        ) : (
          <>
            last cycle <Ago at={seen?.sync.last_run_at} />
          </>
        )}
      </Tile>
      <Tile
        name="PostgreSQL"
        state={seen && <Badge tone={SIDE_TONES[seen.pg.status]}>{seen.pg.status}</Badge>}
        figure={seen?.pg.latency_ms == null ? "–" : count(seen.pg.latency_ms)}
        unit="ms a trip"
      >
        {isSilent ? "It does not answer: see Connections" : "your database"}
      </Tile>
      <Budget budget={budget.data?.data} health={seen} />
    </div>
  );
}

const PACES: Record<ReadBudgetData["pace"], string> = {
  normal: "",
  stretched: "Pulls are further apart, so that Bridge's share of the calls lasts for the day.",
  waiting: "Bridge's share of the calls is spent: rows wait.",
};

/** The org's calls: used today, allowed, and what the mappings cost while nothing changes. */
function Budget({
  budget,
  health,
}: {
  readonly budget: ReadBudgetData | undefined;
  readonly health: ReadHealthData | undefined;
}) {
  const used = budget?.calls_used ?? null;
  const limit = budget?.calls_limit ?? null;
  const share = used !== null && limit ? Math.min(1, used / limit) : 0;
  const forecast = budget && limit ? Math.min(1, budget.forecast_calls_per_day / limit) : null;
  const isTooMuch = budget && limit ? budget.forecast_calls_per_day > limit : false;
  const isMuch = budget?.allowed_calls && budget.own_calls !== null && budget.own_calls >= 0.8 * budget.allowed_calls;
  const tone = share >= 0.95 ? "bad" : share >= 0.7 || isMuch ? "warn" : "";
  return (
    <Tile
      name="Salesforce"
      state={health && <Badge tone={SIDE_TONES[health.sf.status]}>{health.sf.status}</Badge>}
      {...usedOf(health, used, limit)}
    >
      <span
        className="meter"
        title={budget && `Forecast ${count(budget.forecast_calls_per_day)} a day while nothing changes`}
      >
        <span className={tone} style={{ width: `${100 * share}%` }} />
        {forecast !== null && <i style={{ left: `${100 * forecast}%` }} />}
      </span>
      <span>
        {budget
          ? `forecast ${count(budget.forecast_calls_per_day)} a day while nothing changes${isMuch ? ", 80 % of Bridge's share are used" : ""}${isTooMuch ? ", more than the org allows: let mappings read less often" : ""}. ${PACES[budget.pace]}`
          : " "}{" "}
        <a href={hrefOf("/budget")}>API calls</a>
      </span>
    </Tile>
  );
}

/** The count is of the last answer: an org that refuses every call gives none. */
function usedOf(health: ReadHealthData | undefined, used: number | null, limit: number | null) {
  const isSpent = health?.incidents?.some(({ cause }) => cause === "salesforce_limit");
  if (isSpent || used === null) return { figure: "–", unit: isSpent ? "the org's calls are used up" : "calls today" };
  return { figure: count(used), unit: limit === null ? "calls today" : `of ${count(limit)} calls today` };
}

interface TileProps {
  readonly name: string;
  readonly state: ReactNode;
  readonly figure: string;
  readonly unit: string;
  readonly children: ReactNode;
}

function Tile({ name, state, figure, unit, children }: TileProps) {
  return (
    <section className="card tile">
      <div className="tile-head">
        <h2>{name}</h2>
        {state}
      </div>
      <div className="figure">
        {figure} <small>{unit}</small>
      </div>
      <div className="small muted tile-foot">{children}</div>
    </section>
  );
}
