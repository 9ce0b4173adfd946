import * as z from "zod/mini";
import type { SealedWorkspace } from "../access/ports.ts";

/** An object of the org, for pickers. */
export const objectView = z.object({
  name: z.string(),
  label: z.string(),
  queryable: z.boolean(),
  createable: z.boolean(),
  updateable: z.boolean(),
  custom: z.boolean(),
});

/** A field of an object, for pickers. */
const fieldView = z.object({
  name: z.string(),
  label: z.string(),
  type: z.string(),
  length: z.int(),
  precision: z.int(),
  scale: z.int(),
  /** A new record must have it. */
  required: z.boolean(),
  createable: z.boolean(),
  updateable: z.boolean(),
  external_id: z.boolean(),
  unique: z.boolean(),
  /** A formula or roll-up: what other records change in it arrives with the record's next own change, or the daily sweep. */
  calculated: z.boolean(),
  /** Whether a column can hold it. */
  mappable: z.boolean(),
  /** The PostgreSQL type of a column that is made for it; null when none can hold it. */
  pg_type: z.nullable(z.string()),
  /** Whether a mapping's filter may name it. */
  filterable: z.boolean(),
  reference_to: z.array(z.string()),
  /** Fields of a mapping by which rows name the lookup's parent before it has an id; told only when parents are asked for. */
  parent_keys: z.array(z.object({ name: z.string(), object: z.string(), label: z.string() })),
});

export const objectWithFields = z.extend(objectView, { fields: z.array(fieldView) });

export type ObjectView = z.infer<typeof objectView>;
export type ObjectWithFields = z.infer<typeof objectWithFields>;

/** The connected org's objects as it describes them, by label and name. Rejects with a `Failure` that says the remedy. */
export interface OrgCatalog {
  objects(workspace: SealedWorkspace): Promise<readonly ObjectView[]>;
  /** Null: the connection's user sees no such object. With `parents` the objects are asked, too, that its lookups point to. */
  object(workspace: SealedWorkspace, name: string, parents: boolean): Promise<ObjectWithFields | null>;
}
