import type { ListMappingStatesData, ReadObjectData } from "bridge/api";

type Field = ReadObjectData["fields"][number];
type Mapping = ListMappingStatesData[number];

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

/** The column of a field with its PostgreSQL type, as the provisioning makes them. */
export function columnOf({ name, type, length, precision, scale }: Field): readonly [column: string, type: string] {
  return [name.toLowerCase(), columnType(type, length, precision, scale)];
}

function columnType(type: string, length: number, precision: number, scale: number): string {
  switch (type) {
    case "id":
    case "reference":
      return "varchar(18)";
    case "boolean":
    case "date":
    case "time":
      return type;
    case "int":
      return "integer";
    case "long":
      return "bigint";
    case "double":
    case "currency":
    case "percent":
      return precision > 0 && scale <= precision ? `numeric(${precision},${scale})` : "numeric";
    case "datetime":
      return "timestamptz";
    case "picklist":
      return "varchar(255)";
    case "multipicklist":
      return "varchar(4099)";
    case "textarea":
      return length > 0 && length < 256 ? `varchar(${length})` : "text";
    case "anyType":
      return "text";
    default:
      return length > 0 ? `varchar(${length})` : "text";
  }
}

interface Beat {
  readonly pulls: boolean;
  readonly seconds: number;
}

/**
 * The API calls a day that a mapping adds to a workspace while nothing changes. Mappings of one interval share a probe
 * for five of them, so the next one is often free; two calls in five minutes look for late commits and hard deletes.
 */
export function addedCallsPerDay(others: readonly Mapping[], { pulls, seconds }: Beat): number {
  if (!pulls) return 0;
  const beside = others.filter(
    (other) => other.active && other.sync_direction !== "pg_to_sf" && other.sf_polling_seconds === seconds,
  ).length;
  const probes = Math.ceil((beside + 1) / 5) - Math.ceil(beside / 5);
  return probes * Math.ceil(86_400 / seconds) + 2 * (86_400 / 300);
}
