import * as z from "zod/mini";
import type { DescribedObject } from "../../model/describe.ts";
import { understand } from "./understand.ts";

const count = z.pipe(
  z.string(),
  z.transform((digits: string) => Number(digits)),
);

const describedObject = z.object({
  name: z.string(),
  queryable: z.boolean(),
  fields: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      length: count,
      precision: count,
      scale: count,
      digits: count,
      createable: z.boolean(),
      updateable: z.boolean(),
      nillable: z.boolean(),
      filterable: z.boolean(),
      externalId: z.boolean(),
      idLookup: z.boolean(),
      referenceTo: z.array(z.string()),
      relationshipName: z.nullable(z.string()),
    }),
  ),
});

/** An answer of describe, its numbers still digits. */
export const describedObjectOf = (answer: unknown): DescribedObject =>
  understand(describedObject, answer, "a describe");
