import type { ReadThroughputData } from "bridge/api";
import { Suspense, useMemo } from "react";
import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { later } from "../../parts/later.ts";
import { Card } from "../../parts/page.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { count, duration } from "../../parts/words.ts";
import { go, hrefOf, usePlace } from "../../route.ts";

const Chart = later(async () => (await import("../../parts/chart/chart.tsx")).default);

const SPANS = { 60: "hour", 1440: "day" } as const;

type Minutes = keyof typeof SPANS;

/** Which way rows went. */
const WAYS = { both: "Both ways", to: "To Salesforce", from: "From Salesforce" } as const;

type Way = keyof typeof WAYS;

const oneOf = <Key extends string>(all: Readonly<Record<Key, string>>, given: string | null, otherwise: Key): Key =>
  given !== null && given in all ? (given as Key) : otherwise;

/** Rows that Salesforce accepted and rejected, and those that came from it, over time; the address keeps what is chosen. */
export function Moved({ of }: { readonly of?: string }) {
  const { path, query } = usePlace();
  const minutes = Number(oneOf<string>(SPANS, query.get("minutes"), "60")) as Minutes;
  const way = oneOf(WAYS, query.get("way"), "both");
  const object = of ?? query.get("object") ?? "";
  const { data, error, refetch } = useAnswer(questions.throughput(minutes), { everySeconds: 15, keepsPrevious: true });
  const drawn = useMemo(() => (data ? draw(data.data, object, way) : null), [data, object, way]);
  const choose = (part: Readonly<Record<string, string>>) =>
    go(hrefOf(path, { ...Object.fromEntries(query), ...part }), "replace");
  const objects = data?.data.mappings.map(({ sf_object }) => sf_object) ?? [];
  return (
    <Card
      title="Rows over time"
      acts={
        <>
          <Filter label="Direction" value={way} of={WAYS} onChange={(value) => choose({ way: value })} />
          {of === undefined && objects.length > 1 && (
            <Filter
              label="Object"
              value={object}
              of={{ "": "Every object", ...Object.fromEntries(objects.map((name) => [name, name])) }}
              onChange={(value) => choose({ object: value })}
            />
          )}
          <Filter
            label="Time"
            value={String(minutes)}
            of={Object.fromEntries(Object.entries(SPANS).map(([length, name]) => [length, `Last ${name}`]))}
            onChange={(value) => choose({ minutes: value })}
          />
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
              unit="rows"
            />
          </Suspense>
        )}
      </div>
      <p className="legend small">
        {drawn?.keys.map(({ name, total }) => (
          <span key={name} className={`key ${name.split(" ")[0]}`}>
            {count(total)} {name}
          </span>
        ))}
        {data && <span>Each bar: {barOf(data.data.step_seconds)}</span>}
      </p>
    </Card>
  );
}

interface FilterProps {
  readonly label: string;
  readonly value: string;
  readonly of: Readonly<Record<string, string>>;
  readonly onChange: (value: string) => void;
}

function Filter({ label, value, of, onChange }: FilterProps) {
  return (
    <select
      className="input compact"
      aria-label={label}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    >
      {Object.entries(of).map(([each, name]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** What is drawn, the lowest first; what comes from Salesforce hangs below the line. */
const SERIES = [
  { name: "accepted", key: "accepted", colour: "--series-1", way: "to", sign: 1 },
  { name: "rejected", key: "refused", colour: "--series-3", way: "to", sign: 1 },
  { name: "written here", key: "pulled", colour: "--series-2", way: "from", sign: -1 },
] as const;

function draw(throughput: ReadThroughputData, object: string, way: Way) {
  const step = throughput.step_seconds;
  const first = Date.parse(throughput.from) / 1000;
  const steps = Math.floor((Date.parse(throughput.to) / 1000 - first) / step) + 1;
  const shown = throughput.mappings.filter(({ sf_object }) => object === "" || sf_object === object);
  const points = Map.groupBy(
    shown.flatMap((mapping) => mapping.steps),
    ({ at }) => Math.round((Date.parse(at) / 1000 - first) / step),
  );
  const keys = SERIES.filter((one) => way === "both" || one.way === way).map(({ name, key, colour, sign }) => ({
    name,
    colour,
    values: Array.from(
      { length: steps },
      (_, at) => (way === "both" ? sign : 1) * (points.get(at) ?? []).reduce((sum, one) => sum + one[key], 0),
    ),
    total: shown.reduce((sum, mapping) => sum + mapping[key], 0),
  }));
  return { times: Array.from({ length: steps }, (_, at) => first + at * step), keys, series: keys.toReversed() };
}

const barOf = (seconds: number): string => (seconds === 60 ? "a minute" : duration(seconds));
