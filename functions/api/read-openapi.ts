import { Plain } from "../../lib/http/answer.ts";
import { openEndpoint } from "../../lib/http/endpoint.ts";
import document from "../../lib/http/openapi/openapi.json" with { type: "json" };
import { onOpenLambda } from "../invocation/on-lambda.ts";

/** The API's description, without a token. */
const readOpenApi = openEndpoint({
  summary: "This very description of the API, in OpenAPI 3.1.",
  services: () => null,
  run: async () => new Plain("application/json", JSON.stringify(document)),
});

export const handler = onOpenLambda(readOpenApi);
