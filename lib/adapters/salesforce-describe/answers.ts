import * as z from "zod/mini";
import type { OrgObject } from "../../config/org.ts";

const global = z.object({ sobjects: z.array(z.object({ name: z.string() })) });

/** The names of describeGlobal (reference salesforce.md 2.2) by their lower-case form. */
export function readGlobal(answer: unknown): ReadonlyMap<string, string> {
  return new Map(global.parse(answer).sobjects.map(({ name }) => [name.toLowerCase(), name]));
}

const description = z.object({
  name: z.string(),
  queryable: z.boolean(),
  fields: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      filterable: z.boolean(),
      externalId: z.boolean(),
      idLookup: z.boolean(),
      relationshipName: z.nullable(z.string()),
      referenceTo: z.array(z.string()),
    }),
  ),
});

/** A describe answer (reference salesforce.md 2.3), as far as a mapping must know it. */
export function readDescription(answer: unknown): OrgObject {
  return description.parse(answer);
}
