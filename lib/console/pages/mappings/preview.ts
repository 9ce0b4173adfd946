import type { ListMappingStatesData } from "bridge/api";

type Asking = Pick<ListMappingStatesData[number], "sync_direction" | "sf_polling_seconds" | "filter">;
type Mapping = Asking & Pick<ListMappingStatesData[number], "active">;

/** The columns that every mapped table has beside those of its fields. */
export const OWN_COLUMNS: readonly (readonly [column: string, type: string, says: string])[] = [
  ["id", "bigserial", "key"],
  ["sfid", "varchar(18)", "the record's id"],
  ["systemmodstamp", "timestamptz", "last change in Salesforce"],
  ["isdeleted", "boolean", ""],
  ["_ab_lastop", "varchar", "what became of the last change"],
  ["_ab_err", "text", "what Salesforce said against it"],
];

/** Fields that are always synced and need not be chosen. */
export const ALWAYS_SYNCED = ["Id", "SystemModstamp", "IsDeleted"];

/** The name of a table that Bridge makes for an object. */
export const tableOf = (object: string): string => object.toLowerCase();

const DAY_SECONDS = 86_400;

/** Late commits and hard deletes are looked for this often. */
const SLOW_LANE_SECONDS = 300;

/** The API calls a day that a mapping adds to a workspace while nothing changes, as its forecast counts them. */
export const addedCallsPerDay = (others: readonly Mapping[], added: Asking): number =>
  callsPerDay([...others, { ...added, active: true }]) - callsPerDay(others);

/** Five questions of one interval travel in a call; two calls look for what is late, and one more where several look. */
function callsPerDay(mappings: readonly Mapping[]): number {
  const pulling = mappings.filter(({ active, sync_direction }) => active && sync_direction !== "pg_to_sf");
  const probes = [...Map.groupBy(pulling, ({ sf_polling_seconds }) => sf_polling_seconds)].map(
    ([seconds, group]) => Math.ceil(DAY_SECONDS / seconds) * Math.ceil(questionsOf(group) / 5),
  );
  const slow = pulling.length * (pulling.length > 1 ? 3 : 2) * (DAY_SECONDS / SLOW_LANE_SECONDS);
  return probes.reduce((sum, calls) => sum + calls, slow);
}

/** A filtered mapping asks two: what changed inside of the filter, and what left it. */
const questionsOf = (mappings: readonly Asking[]): number =>
  mappings.reduce((sum, { filter }) => sum + (filter === null ? 1 : 2), 0);
