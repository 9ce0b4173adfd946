import type { ReadBudgetData } from "bridge/api";
import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { ForecastWarning } from "../../parts/forecast-warning.tsx";
import { Bones, Card, Page } from "../../parts/page.tsx";
import { Ago, Time } from "../../parts/time.tsx";
import { Notice, Trouble } from "../../parts/trouble.tsx";
import { count, duration } from "../../parts/words.ts";
import { CallsByHour } from "./calls-by-hour.tsx";
import { Share } from "./share.tsx";

/** What Bridge makes of the org's API calls, what it may make, and what doorbells would cost. */
export function BudgetPage() {
  const { data, error, refetch } = useAnswer(questions.budget, { everySeconds: 30 });
  const budget = data?.data;
  return (
    <Page title="API calls" says="Bridge's calls count against the org's limit of 24 hours.">
      {error && !data && <Trouble error={error} again={() => void refetch()} />}
      {!data && !error && <Bones lines={8} />}
      {budget && (
        <>
          <Warnings budget={budget} />
          <div className="split">
            <div className="stack">
              <Card title="Calls by mapping and hour" padded={false}>
                <CallsByHour hours={budget.hours} />
              </Card>
            </div>
            <div className="stack">
              <Card title="Now">
                <Figures budget={budget} />
              </Card>
              <Card title="Share">
                <Share
                  key={`${budget.calls_share} ${budget.most_calls} ${budget.when_quiet_seconds}`}
                  budget={budget}
                />
              </Card>
            </div>
          </div>
        </>
      )}
    </Page>
  );
}

/** So much of the share is worth a word. */
const MUCH = 0.8;

/** What needs the operator: the share spent, nearly spent, or a forecast beyond the org's limit. */
function Warnings({ budget }: { readonly budget: ReadBudgetData }) {
  const { pace, pace_seconds, since, own_calls: own, allowed_calls: allowed, calls_limit: limit } = budget;
  const isMuch = allowed !== null && own !== null && own >= MUCH * allowed;
  return (
    <>
      {pace === "waiting" && (
        <Notice
          tone="bad"
          title={
            <>
              Limit reached <Ago at={since} none="" />
            </>
          }
        >
          Bridge's share is spent: rows wait, and pulls come every {duration(pace_seconds)}. More calls are left as
          those of 24 hours ago leave the count; a larger share helps at once.
        </Notice>
      )}
      {pace === "stretched" && (
        <Notice tone="info" title={`Pulls come every ${duration(pace_seconds)} or as configured`}>
          The calls of Bridge's share would not last for the day otherwise
          {since && (
            <>
              ; since <Time at={since} />
            </>
          )}
          .
        </Notice>
      )}
      {pace !== "waiting" && isMuch && (
        <Notice tone="warn" title={`${Math.floor((100 * own) / allowed)} % of the share is used`}>
          Bridge has made {count(own)} of its {count(allowed)} calls of 24 hours. Let mappings read less often, or raise
          the share.
        </Notice>
      )}
      {limit !== null && budget.forecast_calls_per_day > limit && (
        <ForecastWarning forecast={budget.forecast_calls_per_day} limit={limit} />
      )}
    </>
  );
}

function Figures({ budget }: { readonly budget: ReadBudgetData }) {
  const { calls_used: used, calls_limit: limit, own_calls: own, allowed_calls: allowed } = budget;
  const of = (part: number | null, all: number | null, whose: string) =>
    part === null || all === null ? "not known yet" : `${count(part)} of ${count(all)} that ${whose} allows`;
  return (
    <dl className="facts">
      <dt>Bridge, 24 hours</dt>
      <dd>{of(own, allowed, "its share")}</dd>
      <dt>All clients, 24 hours</dt>
      <dd>{of(used, limit, "the org")}</dd>
      <dt>Forecast</dt>
      <dd>{count(budget.forecast_calls_per_day)} a day while nothing changes</dd>
      <dt>With doorbells</dt>
      <dd>{count(budget.with_doorbells.calls_per_day)} a day while nothing changes and all of them work</dd>
      <dt>Pace</dt>
      <dd>a pull every {duration(budget.pace_seconds)} or as configured</dd>
    </dl>
  );
}
