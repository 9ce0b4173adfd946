import type { ReadThroughputData } from "bridge/api";
import { lazy, Suspense, useMemo, useState } from "react";
import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { Card } from "../../parts/page.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { count } from "../../parts/words.ts";

const Chart = lazy(() => import("../../parts/chart.tsx"));

const SPANS = { 60: "hour", 1440: "day", 10080: "week" } as const;

type Minutes = keyof typeof SPANS;

/** Rows that Salesforce took and refused, over time. */
export function Moved() {
  const [minutes, setMinutes] = useState<Minutes>(60);
  const [object, setObject] = useState("");
  const asked = questions.throughput(minutes);
  const { data, error, refetch } = useAnswer(asked, { everySeconds: 15, keepsPrevious: true });
  const drawn = useMemo(() => (data ? draw(data.data, object) : null), [data, object]);
  return (
    <Card
      title="Rows sent to Salesforce"
      acts={
        <>
          {data && data.data.mappings.length > 1 && (
            <select
              className="input compact"
              aria-label="Object"
              value={object}
              onChange={({ target }) => setObject(target.value)}
            >
              <option value="">Every object</option>
              {data.data.mappings.map(({ mapping_id, sf_object }) => (
                <option key={mapping_id}>{sf_object}</option>
              ))}
            </select>
          )}
          <select
            className="input compact"
            aria-label="Time"
            value={minutes}
            onChange={({ target }) => setMinutes(Number(target.value) as Minutes)}
          >
            {Object.entries(SPANS).map(([length, name]) => (
              <option key={length} value={length}>
                Last {name}
              </option>
            ))}
          </select>
        </>
      }
    >
      {error && !data && <Trouble error={error} again={() => void refetch()} />}
      <div className="chart-room">
        {drawn && (
          <Suspense>
            <Chart
              label={`${count(drawn.accepted)} rows taken and ${count(drawn.refused)} refused in the last ${SPANS[minutes]}`}
              times={drawn.times}
              series={drawn.series}
            />
          </Suspense>
        )}
      </div>
      <p className="legend small">
        <span className="key taken">{drawn ? count(drawn.accepted) : "–"} taken</span>
        <span className="key refused">{drawn ? count(drawn.refused) : "–"} refused</span>
        {data?.data.cut && <span>Only the latest part of this time is counted: the log grows faster.</span>}
      </p>
    </Card>
  );
}

function draw(throughput: ReadThroughputData, object: string) {
  const step = throughput.step_seconds;
  const first = Date.parse(throughput.from) / 1000;
  const steps = Math.floor((Date.parse(throughput.to) / 1000 - first) / step) + 1;
  const times = Array.from({ length: steps }, (_, index) => first + index * step);
  const accepted = times.map(() => 0);
  const refused = times.map(() => 0);
  const shown = throughput.mappings.filter(({ sf_object }) => object === "" || sf_object === object);
  for (const point of shown.flatMap((mapping) => mapping.steps)) {
    const index = Math.round((Date.parse(point.at) / 1000 - first) / step);
    accepted[index] = (accepted[index] ?? 0) + point.accepted;
    refused[index] = (refused[index] ?? 0) + point.refused;
  }
  return {
    times,
    series: [
      { name: "refused", colour: "--series-3", values: refused },
      { name: "taken", colour: "--series-1", values: accepted },
    ],
    accepted: shown.reduce((sum, mapping) => sum + mapping.accepted, 0),
    refused: shown.reduce((sum, mapping) => sum + mapping.refused, 0),
  };
}
