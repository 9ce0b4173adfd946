import * as z from "zod/mini";
import { endpoint } from "../../lib/http/endpoint.ts";
import { objectView } from "../../lib/settings/catalog.ts";
import { catalog } from "../composition.ts";
import { onLambda } from "../on-lambda.ts";

/** The objects that the connection's user sees; one API call. */
export const listObjects = endpoint({
  route: "list-objects",
  summary: "The org's objects that the connection's user sees, by name. Costs one of its API calls.",
  output: z.array(objectView),
  services: () => ({ catalog: catalog() }),
  run: ({ workspace, services }) => services.catalog.objects(workspace),
});

export const handler = onLambda(listObjects);
