import * as z from "zod/mini";
import type { SealedWorkspace } from "../access/ports.ts";

/** An object of the org, without its fields. */
export const listedObject = z.object({
  name: z.string(),
  label: z.string(),
  queryable: z.boolean(),
  createable: z.boolean(),
  updateable: z.boolean(),
  custom: z.boolean(),
});

const orgField = z.object({
  name: z.string(),
  label: z.string(),
  type: z.string(),
  length: z.number(),
  precision: z.number(),
  scale: z.number(),
  digits: z.number(),
  createable: z.boolean(),
  updateable: z.boolean(),
  nillable: z.boolean(),
  defaultedOnCreate: z.boolean(),
  calculated: z.boolean(),
  unique: z.boolean(),
  filterable: z.boolean(),
  externalId: z.boolean(),
  idLookup: z.boolean(),
  referenceTo: z.array(z.string()),
  relationshipName: z.nullable(z.string()),
});

/** An object as the org describes it; more of it than the model's `DescribedObject`, for what a person asks. */
export const orgObject = z.extend(listedObject, { fields: z.array(orgField) });

export type ListedObject = z.infer<typeof listedObject>;
export type OrgField = z.infer<typeof orgField>;
export type OrgObject = z.infer<typeof orgObject>;

/** The connected org's own words for its objects. Rejects with a `Failure` that says what an operator can do. */
export interface Org {
  /** The objects that the connection's user sees. */
  objects(workspace: SealedWorkspace): Promise<readonly ListedObject[]>;
  /** Descriptions of objects by API name; those that the connection's user does not see are left out. */
  describe(workspace: SealedWorkspace, names: readonly string[]): Promise<ReadonlyMap<string, OrgObject>>;
}
