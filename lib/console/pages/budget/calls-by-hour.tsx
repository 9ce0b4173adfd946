import type { ReadBudgetData } from "bridge/api";
import { List } from "../../parts/list.tsx";
import { Empty } from "../../parts/page.tsx";
import { clock, count } from "../../parts/words.ts";

type Hour = ReadBudgetData["hours"][number];

const HOUR_MILLISECONDS = 3_600_000;

/** Each mapping's calls of the last day, the most first, with a bar for each hour. */
export function CallsByHour({ hours }: { readonly hours: readonly Hour[] }) {
  const mappings = [...Map.groupBy(hours, ({ mapping_id }) => mapping_id)]
    .map(([id, own]) => ({ id, own, calls: sum(own, "calls"), changes: sum(own, "changes") }))
    .toSorted((one, other) => other.calls - one.calls);
  if (mappings.length === 0)
    return <Empty title="No calls counted yet">The first figures come with the first minute of a mapping.</Empty>;
  const most = Math.max(1, ...hours.map(({ calls }) => calls));
  const times = hours.map(({ at }) => Date.parse(at));
  const span = { first: Math.min(...times), last: Math.max(...times), most };
  return (
    <List
      caption="API calls of the last 24 hours by mapping and hour"
      head={["Object", ["Calls", "number"], ["Changes", "number wide"], "By hour"]}
    >
      {mappings.map(({ id, own, calls, changes }) => (
        <tr key={id}>
          <td className="breaks">{own[0]?.sf_object}</td>
          <td className="number">{count(calls)}</td>
          <td className="number wide">{count(changes)}</td>
          <td>
            <Bars hours={own} {...span} />
          </td>
        </tr>
      ))}
    </List>
  );
}

const sum = (hours: readonly Hour[], what: "calls" | "changes") => hours.reduce((all, hour) => all + hour[what], 0);

interface BarsProps {
  readonly hours: readonly Hour[];
  /** The time that all rows show, and the most calls of any hour. */
  readonly first: number;
  readonly last: number;
  readonly most: number;
}

const [WIDTH, HEIGHT] = [6, 24];

function Bars({ hours, first, last, most }: BarsProps) {
  const busiest = hours.reduce((one, other) => (other.calls > one.calls ? other : one));
  const columns = (last - first) / HOUR_MILLISECONDS + 1;
  return (
    <svg
      role="img"
      aria-label={`${count(busiest.calls)} calls in the busiest hour, from ${clock(busiest.at)}`}
      className="bars"
      viewBox={`0 0 ${columns * WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      {hours.map(({ at, calls, changes }) => {
        const height = Math.max(calls > 0 ? 1 : 0, Math.round((HEIGHT * calls) / most));
        const x = ((Date.parse(at) - first) / HOUR_MILLISECONDS) * WIDTH;
        return (
          <rect key={at} x={x} y={HEIGHT - height} width={WIDTH - 1} height={height}>
            <title>{`from ${clock(at)}: ${count(calls)} calls, ${count(changes)} changes`}</title>
          </rect>
        );
      })}
    </svg>
  );
}
