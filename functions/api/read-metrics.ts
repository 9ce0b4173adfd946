import { Plain } from "../../lib/http/answer.ts";
import { openEndpoint } from "../../lib/http/endpoint.ts";
import { EXPOSITION_TYPE } from "../../lib/metrics/exposition.ts";
import { scraper } from "../../lib/metrics/scrape.ts";
import { onOpenLambda } from "../invocation/on-lambda.ts";
import { counters } from "../services/composition.ts";

/** The service's metrics in plain-text exposition format, without a token (spec 4.2). */
const readMetrics = openEndpoint({
  summary: "The service's metrics in plain-text exposition format, without a token.",
  services: () => ({ scrape: scraper(counters()) }),
  run: async ({ services, at }) => new Plain(EXPOSITION_TYPE, await services.scrape(at)),
});

export const handler = onOpenLambda(readMetrics);
