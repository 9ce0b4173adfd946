import { traitsOf } from "./field-type.ts";
import type { Column } from "./shape.ts";

/** The PostgreSQL type of a new column for a field. */
export const columnType = (field: Pick<Column, "length" | "precision" | "scale"> & { readonly type: string }): string =>
  traitsOf(field.type).column(field);
