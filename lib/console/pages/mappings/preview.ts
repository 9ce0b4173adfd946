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

/** The forecast of a workspace once a mapping is added: API calls a day of all, and of it, while nothing changes. */
export function forecastWith(others: readonly Mapping[], added: Asking) {
  const pulling = others.filter(({ active, sync_direction }) => active && sync_direction !== "pg_to_sf");
  const all: readonly Asking[] = added.sync_direction === "pg_to_sf" ? pulling : [...pulling, added];
  const slow = (all.length > 1 ? 3 : 2) * (DAY_SECONDS / SLOW_LANE_SECONDS);
  const intervals = Map.groupBy(all, ({ sf_polling_seconds }) => sf_polling_seconds);
  const probes = [...intervals].map(([seconds, group]) => probesOf(seconds, group));
  const mates = (intervals.get(added.sf_polling_seconds) ?? []).filter((one) => one !== added);
  const [shared, before] = [probesOf(added.sf_polling_seconds, [...mates, added]), questionsOf(mates)];
  const part = shared - Math.round((shared * before) / (before + questionsOf([added])));
  return {
    all: probes.reduce((sum, calls) => sum + calls, all.length * slow),
    own: added.sync_direction === "pg_to_sf" ? 0 : part + slow,
  };
}

/** Five questions of one interval travel in a call. */
const probesOf = (seconds: number, group: readonly Asking[]): number =>
  Math.ceil(DAY_SECONDS / seconds) * Math.ceil(questionsOf(group) / 5);

/** A filtered mapping asks two: what changed inside of the filter, and what left it. */
const questionsOf = (mappings: readonly Asking[]): number =>
  mappings.reduce((sum, { filter }) => sum + (filter === null ? 1 : 2), 0);
