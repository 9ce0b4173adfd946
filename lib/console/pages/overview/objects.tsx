import type { ListMappingStatesData, ReadThroughputData } from "bridge/api";
import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { List } from "../../parts/list.tsx";
import { MappingState } from "../../parts/mapping-state.tsx";
import { Card } from "../../parts/page.tsx";
import { Ago } from "../../parts/time.tsx";
import { count, duration } from "../../parts/words.ts";
import { hrefOf } from "../../route.ts";
import { CycleStrip } from "./cycle-strip.tsx";

/** Each object with its figures of the last hour. */
export function ObjectTable({ mappings }: { readonly mappings: ListMappingStatesData }) {
  const { data } = useAnswer(questions.throughput(60), { everySeconds: 15 });
  return (
    <Card title="Objects" padded={false}>
      <List
        caption="Objects with their figures"
        head={[
          "Object",
          "State",
          ["Cycles of the last hour", "wide"],
          ["Lag p50", "wide number"],
          ["p95", "wide wider number"],
          ["Last cycle", "wide wider"],
          ["Waiting", "number"],
          ["Failed", "number"],
        ]}
      >
        {mappings.map((mapping) => (
          <Row key={mapping.id} mapping={mapping} throughput={data?.data} />
        ))}
      </List>
    </Card>
  );
}

interface RowProps {
  readonly mapping: ListMappingStatesData[number];
  readonly throughput: ReadThroughputData | undefined;
}

function Row({ mapping, throughput }: RowProps) {
  const moved = throughput?.mappings.find(({ mapping_id }) => mapping_id === mapping.id);
  const lag = moved?.lag_seconds;
  return (
    <tr>
      <td>
        <a className="row-link" href={hrefOf(`/mappings/${mapping.id}`)}>
          {mapping.sf_object}
        </a>
      </td>
      <td>
        <MappingState mapping={mapping} />
      </td>
      <td className="wide">{throughput && <CycleStrip throughput={throughput} steps={moved?.steps ?? []} />}</td>
      <td className="wide number">{lag ? duration(lag.p50) : "–"}</td>
      <td className="wide wider number">{lag ? duration(lag.p95) : "–"}</td>
      <td className="wide wider once">
        <Ago at={mapping.last_run_at} />
      </td>
      <td className="number">
        {figure(mapping.waiting)}
        {mapping.oldest_waiting_at && (
          <span className="sub">
            since <Ago at={mapping.oldest_waiting_at} />
          </span>
        )}
      </td>
      <td className="number">
        {mapping.failed ? (
          <a href={hrefOf("/activity/failed", { table: mapping.pg_table })}>{count(mapping.failed)}</a>
        ) : (
          figure(mapping.failed)
        )}
      </td>
    </tr>
  );
}

const figure = (value: number | null): string => (value === null ? "–" : count(value));
