import { Refusal } from "../refusal.ts";
import { jsonObject, objectsIn, ok, type RestCall, type RestReply } from "../rest-call.ts";
import { composite, type RunInner } from "./composite.ts";

const MAX_NODES = 500;

/** `POST /composite/graph`: several graphs of requests, each of them all or none; one call in all. */
export function graph(runInner: RunInner) {
  const runAll = composite(runInner, MAX_NODES);
  return async (call: RestCall): Promise<RestReply> => {
    const body = jsonObject(call);
    const graphs = objectsIn(body["graphs"]);
    if (graphs.length > 75) throw new Refusal("LIMIT_EXCEEDED", "The number of graphs exceeds the limit of 75");
    const answers: unknown[] = [];
    for (const entry of graphs) {
      const inner = { ...call, body: { value: { allOrNone: true, compositeRequest: entry["compositeRequest"] } } };
      const answer = await runAll(inner);
      const graphResponse = "json" in answer ? answer.json : null;
      answers.push({ graphId: entry["graphId"], graphResponse, isSuccessful: isSuccessful(graphResponse) });
    }
    return ok({ graphs: answers });
  };
}

function isSuccessful(answer: unknown): boolean {
  const { compositeResponse } = answer as { compositeResponse: readonly { httpStatusCode: number }[] };
  return compositeResponse.every((part) => part.httpStatusCode < 400);
}
