import { SalesforceRefusal } from "../../model/change/refusal.ts";
import type { SalesforceConnection } from "../../model/workspace/workspace.ts";
import type { Sessions } from "../../sync/ports/session-ports.ts";
import type { CallMeter } from "./call-meter.ts";
import { type Answer, exchange, type Request } from "./exchange.ts";

/** A connected org, for one cycle or one request of the API. */
export interface Client {
  readonly sessions: Sessions;
  readonly meter: CallMeter;
  /** Breaks requests off. */
  readonly signal?: AbortSignal;
}

/** One request below `/services/data/v…`, as `underSession` runs it; a function creates it for each session. */
export function call<Content>(
  client: Client,
  request: Request<Content> | ((session: SalesforceConnection) => Request<Content>),
): Promise<Answer<Content>> {
  return underSession(client.sessions, (session) => {
    const { instanceUrl, apiVersion, accessToken } = session;
    const headers = { authorization: `Bearer ${accessToken}`, "sforce-call-options": "client=bridge" };
    const made = typeof request === "function" ? request(session) : request;
    const path = `/services/data/v${apiVersion}${made.path}`;
    return exchange({ ...client, url: instanceUrl, headers }, { ...made, path });
  });
}

/** Asks with the session that is good now. One that has ended is renewed once; where the new one is refused, so is the call. */
export async function underSession<Answered>(
  sessions: Sessions,
  ask: (session: SalesforceConnection) => Promise<Answered>,
): Promise<Answered> {
  const session = await sessions.current();
  if (session.accessToken === null) return ask(await sessions.renew(null));
  try {
    return await ask(session);
  } catch (error) {
    if (!(error instanceof SalesforceRefusal) || error.refusal.code !== "INVALID_SESSION_ID") throw error;
    return ask(await sessions.renew(session.accessToken));
  }
}
