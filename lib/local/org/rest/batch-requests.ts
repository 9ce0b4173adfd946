import { Refusal } from "../refusal.ts";
import { jsonObject, objectsIn, ok, type RestCall, type RestReply } from "../rest-call.ts";
import { textOf } from "../text-of.ts";
import type { RunInner } from "./composite.ts";
import { errorsOf } from "./rest-errors.ts";

const MAX_REQUESTS = 25;

/** `POST /composite/batch` (salesforce-facts 3.3): independent requests, each of them counted. */
export function batch(runInner: RunInner) {
  return async (call: RestCall): Promise<RestReply> => {
    const body = jsonObject(call);
    const requests = objectsIn(body["batchRequests"]);
    if (requests.length > MAX_REQUESTS)
      throw new Refusal("LIMIT_EXCEEDED", `The number of batch requests exceeds the limit of ${MAX_REQUESTS}`);
    // The request itself has been counted as the first of them.
    if (requests.length > 1) call.parts.calls.count(requests.length - 1);
    const results: { statusCode: number; result: unknown }[] = [];
    for (const request of requests) {
      const isHalted = body["haltOnError"] === true && results.some((result) => result.statusCode >= 400);
      results.push(isHalted ? HALTED : await runOne(call, request, runInner));
    }
    return ok({ hasErrors: results.some((result) => result.statusCode >= 400), results });
  };
}

const HALTED = {
  statusCode: 412,
  result: [
    { errorCode: "BATCH_PROCESSING_HALTED", message: "Batch processing was halted at the request of the client." },
  ],
};

async function runOne(call: RestCall, request: Record<string, unknown>, runInner: RunInner) {
  try {
    const method = textOf(request["method"] ?? "GET").toUpperCase();
    const answer = await runInner(call, { method, url: textOf(request["url"] ?? ""), body: request["richInput"] });
    return "reply" in answer
      ? { statusCode: answer.reply.status, result: null }
      : { statusCode: answer.status, result: answer.json ?? null };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { statusCode: error.status, result: errorsOf(error) };
  }
}
