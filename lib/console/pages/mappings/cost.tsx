import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { ForecastWarning } from "../../parts/forecast-warning.tsx";
import { Card } from "../../parts/page.tsx";
import { Notice } from "../../parts/trouble.tsx";
import { count } from "../../parts/words.ts";
import type { MappingSettings } from "./settings.tsx";

/** What a mapping will cost of the org's calls a day while nothing changes. */
export function CallsPreview({ settings, except }: { readonly settings: MappingSettings; readonly except?: string }) {
  const { sf_polling_seconds, when_quiet_seconds, sync_direction, sf_notify_enabled, filter } = settings;
  const quiet = when_quiet_seconds ?? undefined;
  const asked = {
    sf_polling_seconds,
    when_quiet_seconds: quiet,
    sync_direction,
    sf_notify_enabled: String(sf_notify_enabled),
    filtered: String(filter !== null),
    mapping_id: except,
  };
  const { data } = useAnswer(questions.budgetWith(asked), { keepsPrevious: true });
  // Not known yet, or an interval that is still being typed.
  if (!data?.data.with_mapping) return <Card title="Calls a day">–</Card>;
  const { forecast_calls_per_day: now, calls_limit: limit } = data.data;
  const { own_calls_per_day: own, forecast_calls_per_day: all } = data.data.with_mapping;
  return (
    <Card title="Calls a day">
      <div className="stack tight">
        <p>
          <span className="figure big">{count(own)}</span> <span className="muted">while nothing changes</span>
        </p>
        <p className="muted">
          All mappings together: {count(all)}
          {limit ? `, ${((100 * all) / limit).toFixed(1)} % of the org's ${count(limit)}` : ""}
        </p>
        {all > now && (
          <Notice tone="warn" title={`${count(all - now)} calls a day more than now`}>
            {count(now)} a day is what the mappings cost as they are saved.
          </Notice>
        )}
        {limit && all > limit ? <ForecastWarning forecast={all} limit={limit} /> : null}
        <p className="small muted">
          Five mappings with the same interval share a call and its cost; one with a filter counts twice. What changes
          costs its pages and writes beyond it: up to 200 rows travel in one call.
        </p>
      </div>
    </Card>
  );
}
