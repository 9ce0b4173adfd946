/** A field as describe tells it (reference salesforce.md 2.3). */
interface Sized {
  readonly type: string;
  readonly length: number;
  readonly precision: number;
  readonly scale: number;
}

/** The PostgreSQL type of a new column for a field: exact decimals, instants with their zone, lengths as Salesforce has them. */
export function columnType({ type, length, precision, scale }: Sized): string {
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
