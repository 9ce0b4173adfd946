import { Plain } from "../../lib/http/answer.ts";
import { openEndpoint } from "../../lib/http/endpoint.ts";
import type { OpenApi } from "../../lib/http/openapi/document.ts";
import document from "../../lib/http/openapi/openapi.json" with { type: "json" };
import { pageOf } from "../../lib/http/openapi/page.ts";
import { onOpenLambda } from "../invocation/on-lambda.ts";

/** Nothing but its own style may be loaded or run. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The API's description for people, without a token. */
const readApiPage = openEndpoint({
  summary: "The description of the API as a page to read.",
  services: () => pageOf(document as unknown as OpenApi),
  run: async ({ services: page }) => new Plain("text/html; charset=utf-8", page, { "Content-Security-Policy": POLICY }),
});

export const handler = onOpenLambda(readApiPage);
