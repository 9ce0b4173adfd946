import { PAGE_POLICY, Plain } from "../../lib/http/answer.ts";
import type { OpenApi } from "../../lib/http/openapi/open-api.ts";
import document from "../../lib/http/openapi/openapi.json" with { type: "json" };
import { pageOf } from "../../lib/http/openapi/page.ts";
import { onOpenLambda } from "../invocation/on-lambda.ts";

export const handler = onOpenLambda({
  summary: "The description of the API as a page to read.",
  services: () => pageOf(document as unknown as OpenApi),
  run: async ({ services: page }) => new Plain("text/html; charset=utf-8", page, PAGE_POLICY),
});
