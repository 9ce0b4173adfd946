import * as z from "zod/mini";
import { type ListedObject, listedObject } from "../../lib/config/org-ports.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { catalog } from "../services/composition.ts";

export const handler = onLambda({
  route: "list-objects",
  summary: "The org's objects that the connection's user sees, by name. Costs one of its API calls.",
  output: z.array(listedObject),
  run: async ({ workspace }) => (await catalog().objects(workspace)).toSorted(byName),
});

const byName = (one: ListedObject, other: ListedObject): number => (one.name < other.name ? -1 : 1);
