import type { Salesforce } from "../../sync/ports/cycle-ports.ts";
import type { Sessions } from "../../sync/ports/session-ports.ts";
import { bulkQueries } from "./bulk/bulk-queries.ts";
import { bulkSaves } from "./bulk/bulk-saves.ts";
import { CallMeter } from "./call-meter.ts";
import type { Client } from "./client.ts";
import { readingCalls } from "./read/read-records.ts";
import { write } from "./write/write-records.ts";

/**
 * The org of one workspace, for one cycle. `signal` breaks off everything but saves. A session that has ended is renewed
 * once per call; when the new one is refused too, the call rejects with a `session` refusal.
 */
export function connectOrg(sessions: Sessions, signal: AbortSignal): Salesforce {
  const client: Client = { sessions, meter: new CallMeter(), signal };
  return {
    ...readingCalls(client),
    ...bulkQueries(client),
    ...bulkSaves(client),
    write: (operation, object, records, externalIdField) => write(client, operation, object, records, externalIdField),
    calls: () => client.meter.calls(),
    usage: () => client.meter.usage(),
  };
}
