import type { Catalog } from "../metadata/catalog.ts";
import type { Field } from "../metadata/field.ts";
import type { Stored } from "../store/database.ts";
import type { Output } from "./plan.ts";

/** A record as a protocol answers it: plain values, parents and child lists. */
export type Answer = { [name: string]: unknown };

/** How one protocol writes values and describes what a record is. */
export interface Style {
  /** The leading `attributes` (REST) or `type` and `Id` (SOAP) of a record. */
  head(type: string, id: string | null): Answer;
  value(field: Field, stored: Stored, id: string | null): unknown;
  children(records: Answer[]): unknown;
}

/** Turns the rows of a plan into records. */
export class Renderer {
  readonly #catalog: Catalog;
  readonly #style: Style;
  readonly #childRows: (output: Extract<Output, { kind: "children" }>, parentId: string) => Stored[][];

  constructor(
    catalog: Catalog,
    style: Style,
    childRows: (output: Extract<Output, { kind: "children" }>, parentId: string) => Stored[][],
  ) {
    this.#catalog = catalog;
    this.#style = style;
    this.#childRows = childRows;
  }

  /** The record of one row; `type` is its object's name. */
  record(type: string, id: string | null, outputs: readonly Output[], row: Stored[]): Answer {
    const answer = this.#style.head(type, id);
    for (const output of outputs) answer[output.name] = this.#part(output, row, id);
    return answer;
  }

  #part(output: Output, row: Stored[], id: string | null): unknown {
    if (output.kind === "value") return this.#style.value(output.field, row[output.at] ?? null, id);
    if (output.kind === "children") return this.#children(output, String(id));
    const parentId = row[output.idAt];
    if (typeof parentId !== "string") return null;
    const type = output.object?.name ?? this.#catalog.ofId(parentId)?.name ?? "Name";
    const outputs = output.byType?.get(type.toLowerCase()) ?? output.outputs;
    return this.record(type, parentId, outputs, row);
  }

  #children(output: Extract<Output, { kind: "children" }>, parentId: string): unknown {
    const rows = this.#childRows(output, parentId);
    if (rows.length === 0) return null;
    const { object, outputs } = output.plan;
    return this.#style.children(rows.map((row) => this.record(object.name, String(row[0]), outputs, row)));
  }
}

const { rawJSON, isRawJSON } = JSON as typeof JSON & {
  rawJSON(text: string): { readonly rawJSON: string };
  isRawJSON(value: unknown): value is { readonly rawJSON: string };
};

/** What a client reads of a value that REST writes. */
export function readBack(value: unknown): unknown {
  return isRawJSON(value) ? Number(value.rawJSON) : value;
}

/** A double as Java writes it: `12.0`, and from ten million on, as below a thousandth, `9.9213206E7`. */
export function javaDouble(value: number): string {
  const isPlain = value === 0 || (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e7);
  if (isPlain) return Number.isInteger(value) ? value.toFixed(1) : String(value);
  const [digits = "", exponent] = value.toExponential().split("e");
  return `${digits.includes(".") ? digits : `${digits}.0`}E${Number(exponent)}`;
}

/** REST's way of writing a value: JSON types, doubles as Java writes them, datetimes with `+0000` (salesforce-facts 2.3). */
export function restValue(field: Field, stored: Stored): unknown {
  if (stored === null) return field.type === "boolean" ? false : null;
  switch (field.type) {
    case "boolean":
      return stored === 1;
    case "datetime":
      return `${String(stored).slice(0, -1)}+0000`;
    case "address":
      return JSON.parse(String(stored));
    case "double":
    case "currency":
    case "percent":
      return rawJSON(javaDouble(Number(stored)));
    default:
      return stored;
  }
}
