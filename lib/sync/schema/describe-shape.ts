import { type DescribedObject, parentsOf, shapeOf } from "../../model/mapping/describe.ts";
import type { Mapping } from "../../model/mapping/mapping.ts";
import type { TableShape } from "../../model/mapping/shape.ts";
import type { Salesforce } from "../ports/cycle-ports.ts";

/** The table that a mapping asks for, by what the org says now: one call, and one for each object its rows name parents of. */
export async function describeShape(
  salesforce: Pick<Salesforce, "describe">,
  mapping: Mapping,
  schema: string,
): Promise<TableShape> {
  const object = await salesforce.describe(mapping.sfObject);
  const parents: DescribedObject[] = [];
  for (const name of parentsOf(mapping.fields, object)) {
    parents.push(name === object.name ? object : await salesforce.describe(name));
  }
  return shapeOf(mapping, object, schema, parents);
}
