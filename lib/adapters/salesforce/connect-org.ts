import { Connection } from "jsforce/lib/connection.js";
import { SalesforceRefusal } from "../../model/refusal.ts";
import type { SalesforceConnection } from "../../model/workspace.ts";
import type { Salesforce } from "../../sync/ports.ts";
import type { Sessions } from "../../sync/sessions.ts";
import { bulkQueries } from "./bulk-queries.ts";
import { bulkSaves } from "./bulk-saves.ts";
import { CallMeter } from "./call-meter.ts";
import { FetchTransport } from "./fetch-transport.ts";
import { readingCalls } from "./read-records.ts";
import { streamAnswer } from "./stream-answer.ts";
import { uploadText } from "./upload-text.ts";
import { write } from "./write-records.ts";

/** What is asked of one jsforce connection. */
export type Exchange = (connection: Connection) => Promise<unknown>;

/** Runs one exchange with the org under the session that is good now. */
export type Call = (exchange: Exchange) => Promise<{ readonly answer: unknown; readonly at: Date }>;

/**
 * The org of one workspace, for one cycle. `signal` breaks off reads. A session that has ended is renewed once per call;
 * when the new one is refused too, the call rejects with a `session` refusal.
 */
export function connectOrg(sessions: Sessions, signal: AbortSignal): Salesforce {
  const meter = new CallMeter();
  const call: Call = (exchange) =>
    underSession(sessions, (connection) => exchangeWith(connection, meter, signal, exchange));
  const stream = (path: string) =>
    underSession(sessions, (connection) => streamAnswer(connection, path, meter, signal));
  const upload = (path: string, pieces: () => Iterable<string>) =>
    underSession(sessions, (connection) => uploadText(connection, path, pieces(), meter, signal));

  return {
    ...readingCalls(call),
    ...bulkQueries(call, stream),
    ...bulkSaves(call, stream, upload),
    write: (operation, object, records, externalIdField) => write(call, operation, object, records, externalIdField),
    calls: () => meter.calls(),
    usage: () => meter.usage(),
  };
}

async function underSession<Answer>(
  sessions: Sessions,
  ask: (connection: SalesforceConnection) => Promise<Answer>,
): Promise<Answer> {
  const connection = await sessions.current();
  if (connection.accessToken === null) return ask(await sessions.renew(null));
  try {
    return await ask(connection);
  } catch (error) {
    if (!isEndedSession(error)) throw error;
    return ask(await sessions.renew(connection.accessToken));
  }
}

async function exchangeWith(to: SalesforceConnection, meter: CallMeter, signal: AbortSignal, exchange: Exchange) {
  const { instanceUrl, apiVersion, accessToken } = to;
  const connection = new Connection({
    instanceUrl,
    version: apiVersion,
    ...(accessToken !== null && { accessToken }),
    callOptions: { client: "bridge" },
  });
  const transport = new FetchTransport(meter, signal);
  // Private, so the version of jsforce is pinned and a test breaks when it moves.
  connection._transport = transport;
  const answer = await exchange(connection);
  return { answer, at: transport.answeredAt };
}

function isEndedSession(error: unknown): boolean {
  return error instanceof SalesforceRefusal && error.refusal.code === "INVALID_SESSION_ID";
}
