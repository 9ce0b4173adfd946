import { countRequest } from "../../lib/access/rate-limit.ts";
import { mayRing } from "../../lib/access/ring-token.ts";
import { Plain } from "../../lib/http/answer.ts";
import { RINGS_PER_MINUTE } from "../../lib/http/routes.ts";
import { Failure } from "../../lib/model/failure.ts";
import { pulls } from "../../lib/model/mapping/mapping.ts";
import { wake } from "../../lib/sync/cycle/wake.ts";
import { onOpenLambda } from "../invocation/on-lambda.ts";
import {
  cachedDoorbells,
  cachedMappings,
  pepper,
  queue,
  rateLimits,
  requestsPerMinute,
  wakeUpTimes,
} from "../services/composition.ts";

/** What Salesforce takes for a receipt of an outbound message; without it the message comes again for 24 hours. */
const ACKNOWLEDGED =
  '<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><notificationsResponse xmlns="http://soap.sforce.com/2005/09/outbound"><Ack>true</Ack></notificationsResponse></soapenv:Body></soapenv:Envelope>';

export const handler = onOpenLambda({
  summary:
    "The doorbell, outside of the API: records have changed, so they are pulled now, each mapping at most every two seconds. The token in the path opens nothing else. What is sent is not read; the answer is what acknowledges an outbound message of Salesforce. `object` names the only object that has changed. 12,000 rings a minute and workspace are answered.",
  run: async ({ path, query, address, at }) => {
    const workspaceId = path("workspace_id");
    const known = { doorbells: { read: cachedDoorbells() }, pepper: pepper() };
    if (!(await mayRing(known, { workspaceId, token: path("ring_token"), at }))) {
      const headers = await countRequest(rateLimits(), requestsPerMinute(), address, at);
      // The same words for an unknown workspace and a wrong token, so that no caller finds out which it is.
      throw new Failure("NOT_FOUND", "no doorbell has this URL: get it with bridge doorbell --prepare", {
        headers,
      });
    }
    await countRequest(rateLimits(), RINGS_PER_MINUTE, workspaceId, at, "ring");
    const object = query("object")?.toLowerCase();
    const rung = (await cachedMappings().listActive(workspaceId)).filter(
      ({ syncDirection, notifyEnabled, sfObject }) =>
        notifyEnabled && pulls(syncDirection) && (object ?? sfObject.toLowerCase()) === sfObject.toLowerCase(),
    );
    await wake({ times: wakeUpTimes(), cycles: queue("cycles") }, rung, "pull", { now: at.getTime() });
    return new Plain("text/xml", ACKNOWLEDGED);
  },
});
