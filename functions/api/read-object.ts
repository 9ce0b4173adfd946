import { endpoint } from "../../lib/http/endpoint.ts";
import { Failure } from "../../lib/model/failure.ts";
import { objectWithFields } from "../../lib/settings/catalog.ts";
import { catalog } from "../composition.ts";
import { onLambda } from "../on-lambda.ts";

/** One object with its fields; one API call. */
export const readObject = endpoint({
  route: "read-object",
  summary: "One object of the org with its fields: type, whether required, external id, formula. Costs one API call.",
  output: objectWithFields,
  services: () => ({ catalog: catalog() }),
  run: async ({ path, workspace, services }) => {
    const object = await services.catalog.object(workspace, path.object_name);
    if (object === null) throw new Failure("NOT_FOUND", "the connected org's user sees no object of this name");
    return object;
  },
});

export const handler = onLambda(readObject);
