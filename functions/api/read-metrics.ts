import { Plain } from "../../lib/http/answer.ts";
import { EXPOSITION_TYPE } from "../../lib/metrics/exposition.ts";
import { scraper } from "../../lib/metrics/scrape.ts";
import { onOpenLambda } from "../invocation/on-lambda.ts";
import { counters, engineReports } from "../services/composition.ts";

export const handler = onOpenLambda({
  summary: "The service's metrics in plain-text exposition format, without a token.",
  services: () => ({ scrape: scraper(counters(), engineReports()) }),
  run: async ({ services, at }) => new Plain(EXPOSITION_TYPE, await services.scrape(at)),
});
