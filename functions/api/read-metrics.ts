import { Plain } from "../../lib/http/answer.ts";
import { EXPOSITION_TYPE } from "../../lib/metrics/exposition.ts";
import { onOpenLambda } from "../invocation/on-lambda.ts";
import { scrape } from "../services/composition.ts";

export const handler = onOpenLambda({
  summary: "The service's metrics in plain-text exposition format, without a token.",
  run: async ({ at }) => new Plain(EXPOSITION_TYPE, await scrape()(at)),
});
