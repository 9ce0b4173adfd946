import type { ListMappingStatesData, ReadMappingData } from "bridge/api";
import { useAct } from "../../api/use.ts";
import { ActButton } from "../../parts/acts/act-button.tsx";
import { Card } from "../../parts/page.tsx";
import { save } from "../../parts/save.ts";
import { Ago } from "../../parts/time.tsx";
import { counted } from "../../parts/words.ts";

type Mapping = ListMappingStatesData[number];

/** Whether both sides are equal, by the last comparison of each mapping that reads: the first thing of the page. */
export function Equality({ mappings }: { readonly mappings: ListMappingStatesData }) {
  const reading = mappings.filter(({ active, sync_direction }) => active && sync_direction !== "pg_to_sf");
  if (reading.length === 0) return null;
  const sum = (of: "rows" | "records") => reading.reduce((all, { compared }) => all + (compared?.[of] ?? 0), 0);
  const areEqual = reading.every(({ compared }) => compared?.equal);
  return (
    <Card
      title={
        areEqual
          ? `Both sides equal: ${counted(sum("rows"), "row")}, ${counted(sum("records"), "record")}`
          : "Are both sides equal?"
      }
    >
      {reading.map((mapping) => (
        <Found key={mapping.id} mapping={mapping} />
      ))}
    </Card>
  );
}

function Found({ mapping: { id, sf_object, compared } }: { readonly mapping: Mapping }) {
  const compare = useAct(() => ({ method: "POST", path: `/mappings/${id}/compare` }));
  const read = useAct<ReadMappingData>(() => ({ method: "GET", path: `/mappings/${id}` }));
  const keep = ({ compared_ids }: ReadMappingData) => {
    save(new Blob([compared_ids.join("\n")], { type: "text/plain" }), `${sf_object}-differing.txt`);
    return ["The ids are in a file"] as const;
  };
  return (
    <p>
      <strong>{sf_object}</strong> {compared ? compared.says : "Not compared yet."}{" "}
      {compared && (
        <span className="muted">
          Compared <Ago at={compared.at} />.{" "}
        </span>
      )}
      <ActButton
        act={compare}
        scope="operate"
        done={() => ["Both sides are compared", "What was found shows here; what differs is corrected."]}
        compact
      >
        Compare now
      </ActButton>{" "}
      {compared && compared.differing + compared.vanished > 0 && (
        <ActButton act={read} scope="read" done={keep} compact>
          Ids of what differed
        </ActButton>
      )}
    </p>
  );
}
