/** What the values of a field are. It decides how they are read, compared, sent and written in a filter. */
export type ValueKind = "text" | "choices" | "number" | "boolean" | "date" | "time" | "instant";

/** A field's size by its describe. */
interface Size {
  readonly length: number;
}

/** All facts about a field type; a table over field types that is not here is a table over kinds. */
interface Traits {
  readonly kind: ValueKind;
  /** The PostgreSQL type of a new column: exact decimals, instants with their zone, lengths as Salesforce has them. */
  readonly column: (size: Size) => string;
  /** Whether Salesforce refuses a text longer than the field as a whole; of other types each part or the meaning counts. */
  readonly limitsText: boolean;
}

const byLength = ({ length }: Size) => (length > 0 ? `varchar(${length})` : "text");
/** Salesforce keeps more decimal places than the field has, where they come by its API (help article 000387302). */
const decimal = () => "numeric";

/** The types of Salesforce's describe that a column can hold. `lib/docs/add-a-field-type.md` says how to add one. */
const FIELD_TYPES = {
  id: { kind: "text", column: () => "varchar(18)", limitsText: false },
  string: { kind: "text", column: byLength, limitsText: true },
  boolean: { kind: "boolean", column: () => "boolean", limitsText: false },
  int: { kind: "number", column: () => "integer", limitsText: false },
  long: { kind: "number", column: () => "bigint", limitsText: false },
  double: { kind: "number", column: decimal, limitsText: false },
  currency: { kind: "number", column: decimal, limitsText: false },
  percent: { kind: "number", column: decimal, limitsText: false },
  date: { kind: "date", column: () => "date", limitsText: false },
  datetime: { kind: "instant", column: () => "timestamptz", limitsText: false },
  time: { kind: "time", column: () => "time", limitsText: false },
  email: { kind: "text", column: byLength, limitsText: true },
  phone: { kind: "text", column: byLength, limitsText: true },
  url: { kind: "text", column: byLength, limitsText: true },
  textarea: { kind: "text", column: (size) => (size.length < 256 ? byLength(size) : "text"), limitsText: true },
  picklist: { kind: "text", column: () => "varchar(255)", limitsText: false },
  multipicklist: { kind: "choices", column: () => "varchar(4099)", limitsText: false },
  combobox: { kind: "text", column: byLength, limitsText: false },
  reference: { kind: "text", column: () => "varchar(18)", limitsText: false },
  encryptedstring: { kind: "text", column: byLength, limitsText: true },
  anyType: { kind: "text", column: () => "text", limitsText: false },
} satisfies Record<string, Traits>;

export type FieldType = keyof typeof FIELD_TYPES;

/** Whether a column can hold a field of this type. */
export const isMappable = (type: string): type is FieldType => Object.hasOwn(FIELD_TYPES, type);

/** A type that only a newer version knows is a text to this one. */
const UNKNOWN: Traits = { kind: "text", column: byLength, limitsText: false };

/** The facts about a field type. */
export const traitsOf = (type: string): Traits => (FIELD_TYPES as Record<string, Traits | undefined>)[type] ?? UNKNOWN;
