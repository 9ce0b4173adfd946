import type { ReadThroughputData } from "bridge/api";
import { Suspense, useMemo, useState } from "react";
import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { later } from "../../parts/later.ts";
import { Card } from "../../parts/page.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { clock, count } from "../../parts/words.ts";

const Chart = later(async () => (await import("../../parts/chart.tsx")).default);

const SPANS = { 60: "hour", 1440: "day", 10080: "week" } as const;

type Minutes = keyof typeof SPANS;

/** Which way rows went. */
const WAYS = { to: "To Salesforce", from: "From Salesforce" } as const;

type Way = keyof typeof WAYS;

/** Rows that Salesforce took and refused, or those that came from it, over time. */
export function Moved() {
  const [minutes, setMinutes] = useState<Minutes>(60);
  const [object, setObject] = useState("");
  const [way, setWay] = useState<Way>("to");
  const asked = questions.throughput(minutes);
  const { data, error, refetch } = useAnswer(asked, { everySeconds: 15, keepsPrevious: true });
  const drawn = useMemo(() => (data ? draw(data.data, object, way) : null), [data, object, way]);
  return (
    <Card
      title="Rows over time"
      acts={
        <>
          <select
            className="input compact"
            aria-label="Direction"
            value={way}
            onChange={({ target }) => setWay(target.value as Way)}
          >
            {Object.entries(WAYS).map(([each, name]) => (
              <option key={each} value={each}>
                {name}
              </option>
            ))}
          </select>
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
              label={`${drawn.keys.map(({ name, total }) => `${count(total)} rows ${name}`).join(", ")} in the last ${SPANS[minutes]}`}
              times={drawn.times}
              series={drawn.series}
            />
          </Suspense>
        )}
      </div>
      <p className="legend small">
        {drawn?.keys.map(({ name, total }) => (
          <span key={name} className={`key ${name}`}>
            {count(total)} {name}
          </span>
        ))}
        {data && <Limits throughput={data.data} way={way} />}
      </p>
    </Card>
  );
}

/** What of the time is not in the figures. */
function Limits({ throughput, way }: { readonly throughput: ReadThroughputData; readonly way: Way }) {
  const { cut, from, cycles_from: counted } = throughput;
  if (way === "to") return cut && <span>Only the latest part of this time is counted: the log grows faster.</span>;
  if (counted === null) return <span>Not counted yet in this database: that begins within a day of an upgrade.</span>;
  return counted > from && <span>Counted since {clock(counted)}: they are kept for a day.</span>;
}

/** What is drawn of each way, the lowest first. */
const SERIES = {
  to: [
    { name: "taken", key: "accepted", colour: "--series-1" },
    { name: "refused", key: "refused", colour: "--series-3" },
  ],
  from: [{ name: "written", key: "pulled", colour: "--series-2" }],
} as const;

function draw(throughput: ReadThroughputData, object: string, way: Way) {
  const step = throughput.step_seconds;
  const first = Date.parse(throughput.from) / 1000;
  const steps = Math.floor((Date.parse(throughput.to) / 1000 - first) / step) + 1;
  const shown = throughput.mappings.filter(({ sf_object }) => object === "" || sf_object === object);
  const points = Map.groupBy(
    shown.flatMap((mapping) => mapping.steps),
    ({ at }) => Math.round((Date.parse(at) / 1000 - first) / step),
  );
  const keys = SERIES[way].map(({ name, key, colour }) => ({
    name,
    colour,
    values: Array.from({ length: steps }, (_, at) => (points.get(at) ?? []).reduce((sum, one) => sum + one[key], 0)),
    total: shown.reduce((sum, mapping) => sum + mapping[key], 0),
  }));
  return { times: Array.from({ length: steps }, (_, at) => first + at * step), keys, series: keys.toReversed() };
}
