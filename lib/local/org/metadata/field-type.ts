/** All that the org knows of a field type; what a field's author does not say follows from it. */
interface Traits {
  /** How its values are stored and written. */
  readonly kind: "text" | "id" | "number" | "boolean" | "moment" | "bytes" | "compound";
  /** Characters, 0 where there are none. */
  readonly length: number;
  readonly precision: number;
  readonly scale: number;
  /** The XML type under which SOAP carries it. */
  readonly soap: string;
  /** Apex's name of it, as the columns of a query have it. */
  readonly apex: string;
  readonly isGroupable: boolean;
  /** Whether SOQL's refusals ask for quotes around its values. */
  readonly isQuoted: boolean;
}

const TEXT = {
  kind: "text",
  length: 255,
  precision: 0,
  scale: 0,
  soap: "xsd:string",
  apex: "String",
  isGroupable: true,
  isQuoted: true,
} satisfies Traits;

/** A text whose values SOQL's refusals write without quotes. */
const UNQUOTED = { ...TEXT, isQuoted: false } satisfies Traits;

const ID = { ...TEXT, kind: "id", length: 18, soap: "tns:ID", apex: "Id" } satisfies Traits;

/** What has neither characters nor quotes. */
const VALUE = { ...UNQUOTED, length: 0 } satisfies Traits;

const DOUBLE = {
  ...VALUE,
  kind: "number",
  precision: 18,
  soap: "xsd:double",
  apex: "Double",
  isGroupable: false,
} satisfies Traits;

/** Field types as describe names them (salesforce-facts 2.3). */
export const FIELD_TYPES = {
  id: ID,
  string: TEXT,
  boolean: { ...VALUE, kind: "boolean", soap: "xsd:boolean", apex: "Boolean" },
  int: { ...VALUE, kind: "number", soap: "xsd:int", apex: "Integer" },
  double: DOUBLE,
  currency: { ...DOUBLE, scale: 2 },
  percent: { ...DOUBLE, scale: 2 },
  date: { ...VALUE, kind: "moment", soap: "xsd:date", apex: "Date" },
  datetime: { ...VALUE, kind: "moment", soap: "xsd:dateTime", apex: "Datetime", isGroupable: false },
  time: { ...VALUE, kind: "moment", soap: "xsd:time", isGroupable: false },
  email: { ...TEXT, length: 80 },
  phone: { ...TEXT, length: 40 },
  url: TEXT,
  textarea: TEXT,
  picklist: TEXT,
  multipicklist: { ...UNQUOTED, length: 4099, isGroupable: false },
  combobox: UNQUOTED,
  reference: ID,
  base64: { ...VALUE, kind: "bytes", soap: "xsd:base64Binary" },
  address: { ...VALUE, kind: "compound", soap: "urn:address" },
  encryptedstring: { ...UNQUOTED, length: 175 },
  anyType: { ...UNQUOTED, soap: "xsd:anyType" },
} satisfies Record<string, Traits>;

export type FieldType = keyof typeof FIELD_TYPES;

/** The facts about a field type. */
export const traitsOf = (type: FieldType): Traits => FIELD_TYPES[type];
