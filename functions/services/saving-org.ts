import { connectOrg } from "../../lib/adapters/salesforce/connect-org.ts";
import { sessionsOf } from "../../lib/adapters/salesforce/session/sessions.ts";
import type { Salesforce } from "../../lib/sync/ports/cycle-ports.ts";
import { connections, counters, now } from "./composition.ts";

/** API Gateway ends a request after 29 seconds. */
const REQUEST_MILLISECONDS = 25_000;

/** A workspace's org, for a request that saves to it; its calls are counted. Only for functions whose row says `salesforce`. */
export async function withOrg<Answer>(
  workspaceId: string,
  work: (org: Salesforce) => Promise<Answer>,
): Promise<Answer> {
  const sessions = sessionsOf({ connections: connections(), now }, workspaceId);
  const salesforce = connectOrg(sessions, AbortSignal.timeout(REQUEST_MILLISECONDS));
  try {
    return await work(salesforce);
  } finally {
    await counters().addCalls({ workspaceId, apiCalls: salesforce.calls() });
  }
}
