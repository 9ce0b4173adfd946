import { Plain } from "../../lib/http/answer.ts";
import document from "../../lib/http/openapi/openapi.json" with { type: "json" };
import { onOpenLambda } from "../invocation/on-lambda.ts";

export const handler = onOpenLambda({
  summary: "This very description of the API, in OpenAPI 3.1.",
  services: () => null,
  run: async () => new Plain("application/json", JSON.stringify(document)),
});
