import { PAGE_POLICY, Plain } from "../../lib/http/answer.ts";
import { errorsPage } from "../../lib/http/openapi/page.ts";
import { onOpenLambda } from "../invocation/on-lambda.ts";

export const handler = onOpenLambda({
  summary: "The error codes with their remedies, as a page to read.",
  services: errorsPage,
  run: async ({ services: page }) => new Plain("text/html; charset=utf-8", page, PAGE_POLICY),
});
