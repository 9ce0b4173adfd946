import { cacheTokens, cacheWorkspaces } from "../../lib/access/cache.ts";
import type { Pepper, RateLimits, Tokens, Vault, Workspaces } from "../../lib/access/ports.ts";
import { REQUESTS_PER_MINUTE } from "../../lib/access/rate-limit.ts";
import type { Repeats } from "../../lib/access/repeats.ts";
import { connections as connectionsIn } from "../../lib/adapters/dynamodb/access/connections.ts";
import { pepper as pepperIn } from "../../lib/adapters/dynamodb/access/pepper.ts";
import { rateLimits as rateLimitsIn } from "../../lib/adapters/dynamodb/access/rate-limits.ts";
import { repeats as repeatsIn } from "../../lib/adapters/dynamodb/access/repeats.ts";
import { tokens as tokensIn } from "../../lib/adapters/dynamodb/access/tokens.ts";
import { workspaces as workspacesIn } from "../../lib/adapters/dynamodb/access/workspaces.ts";
import { auditLog as auditLogIn } from "../../lib/adapters/dynamodb/audit/audit.ts";
import { type Database, openDatabase } from "../../lib/adapters/dynamodb/client/client.ts";
import { deliveries as deliveriesIn } from "../../lib/adapters/dynamodb/delivery/deliveries.ts";
import { eventRows as eventRowsIn } from "../../lib/adapters/dynamodb/delivery/events.ts";
import { overdue as overdueIn } from "../../lib/adapters/dynamodb/delivery/overdue.ts";
import { semaphore as turnsIn } from "../../lib/adapters/dynamodb/delivery/semaphore.ts";
import { webhooks as webhooksIn } from "../../lib/adapters/dynamodb/delivery/webhooks.ts";
import { counters as countersIn } from "../../lib/adapters/dynamodb/engine/counters.ts";
import { engineReports as engineReportsIn } from "../../lib/adapters/dynamodb/engine/engine.ts";
import { baselines as baselinesIn } from "../../lib/adapters/dynamodb/mappings/baselines.ts";
import { importPlans as importPlansIn } from "../../lib/adapters/dynamodb/mappings/import-plans.ts";
import {
  type RememberedMappings,
  rememberedMappings as rememberedMappingsIn,
} from "../../lib/adapters/dynamodb/mappings/mapping-cache.ts";
import { mappings as mappingsIn } from "../../lib/adapters/dynamodb/mappings/mappings.ts";
import { postgresMonitoring } from "../../lib/adapters/postgres/operations/monitoring.ts";
import { rowQueriesOf as rowDesksIn } from "../../lib/adapters/postgres/operations/row-operations.ts";
import { connectedOrg, usageReader } from "../../lib/adapters/salesforce/describe/connected-org.ts";
import { orgReach as orgReachIn } from "../../lib/adapters/salesforce/org-reach.ts";
import { sessionsOf } from "../../lib/adapters/salesforce/session/sessions.ts";
import { ttlCache } from "../../lib/adapters/salesforce/ttl-cache.ts";
import { kmsDataKeys } from "../../lib/adapters/secrets/data-keys.ts";
import { envelopeVault } from "../../lib/adapters/secrets/vault.ts";
import { openQueues, type Queues } from "../../lib/adapters/sqs/client.ts";
import { deliveryQueues } from "../../lib/adapters/sqs/delivery-queues.ts";
import { queue as queueOf } from "../../lib/adapters/sqs/queue.ts";
import { now } from "../../lib/adapters/time.ts";
import { refuseAddress } from "../../lib/adapters/webhook-client/addresses.ts";
import { urlGuard as urlGuardBy } from "../../lib/adapters/webhook-client/guard.ts";
import { webhookSender } from "../../lib/adapters/webhook-client/post.ts";
import { resolveByDns } from "../../lib/adapters/webhook-client/resolve.ts";
import type { AuditLog, AuditTrail } from "../../lib/audit/ports.ts";
import type { Org } from "../../lib/config/org-ports.ts";
import type { Baselines, ImportPlans, Mappings } from "../../lib/config/ports.ts";
import type { EngineReports, OrgReach } from "../../lib/health/ports.ts";
import type { Counters } from "../../lib/metrics/ports.ts";
import { type AddressPolicy, DEVELOPMENT, PRODUCTION, refuseOpening } from "../../lib/model/address.ts";
import { SLOW_ATTEMPTS } from "../../lib/model/delivery/webhook.ts";
import { Failure } from "../../lib/model/failure.ts";
import type { Queue, QueueMessages } from "../../lib/model/messages.ts";
import { keptDaysIn, queueVariable, tableVariable } from "../../lib/model/resources.ts";
import type { Monitoring } from "../../lib/monitoring/ports.ts";
import { guardConnections } from "../../lib/network/guarded-dns.ts";
import type { ConnectionSettings } from "../../lib/settings/ports.ts";
import type { RowQueriesOf } from "../../lib/settings/row-ports.ts";
import type { CallUsage } from "../../lib/settings/test-salesforce.ts";
import type { ConnectionStore } from "../../lib/sync/beat/sessions.ts";
import { butNotOwn } from "../../lib/webhooks/own-address.ts";
import type {
  Deliveries,
  EventRows,
  Events,
  Overdue,
  Semaphore,
  Sender,
  UrlGuard,
  WakeUps,
  WebhookSettings,
  Webhooks,
} from "../../lib/webhooks/ports.ts";
import { publisher } from "../../lib/webhooks/publish.ts";

/**
 * The one place where ports meet their adapters. Each is a function of its own, so that a bundle holds only what its
 * function asks for, and opens on first use, so that a cold start pays only for what the request needs.
 */

const opened = new Map<string, unknown>();

/** The same thing on every call in one process. */
function once<Thing>(name: string, open: () => Thing): Thing {
  if (!opened.has(name)) opened.set(name, open());
  return opened.get(name) as Thing;
}

/** What the deployment tells this function. */
export function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") throw new Error(`the environment variable ${name} is not set`);
  return value;
}

export { now };

export const database = (): Database =>
  once("database", () => openDatabase((name) => setting(tableVariable(name)), keptDaysIn(process.env)));

const queues = (): Queues => once("queues", () => openQueues((name) => setting(queueVariable(name))));

/** The queue of this name. */
export const queue = <Name extends keyof QueueMessages>(name: Name): Queue<QueueMessages[Name]> =>
  queueOf(queues(), name);

export const vault = (): Vault => once("vault", () => envelopeVault(kmsDataKeys(setting("KEY_ID"), now)));

export const pepper = (): Pepper => once("pepper", () => pepperIn(database(), vault()));

export const workspaces = (): Workspaces => once("workspaces", () => workspacesIn(database(), vault()));

export const cachedWorkspaces = (): Pick<Workspaces, "find"> =>
  once("cachedWorkspaces", () => cacheWorkspaces(workspaces(), now));

export const tokens = (): Tokens => once("tokens", () => cacheTokens(tokensIn(database()), now));

export const rateLimits = (): RateLimits => once("rateLimits", () => rateLimitsIn(database()));

export const repeats = (): Repeats => once("repeats", () => repeatsIn(database(), vault()));

export const mappings = (): Mappings => once("mappings", () => mappingsIn(database()));

export const rememberedMappings = (): RememberedMappings =>
  once("rememberedMappings", () => rememberedMappingsIn(database()));

export const importPlans = (): ImportPlans => once("importPlans", () => importPlansIn(database()));

export const auditLog = (): AuditLog & AuditTrail => once("auditLog", () => auditLogIn(database(), now));

export const counters = (): Counters => once("counters", () => countersIn(database()));

export const connections = (): ConnectionStore & ConnectionSettings =>
  once("connections", () => connectionsIn(database(), vault()));

/** For imports, by descriptions of the last minute. Whoever asks the org writes `counters`, for its calls are counted. */
export const org = (): Org => once("org", () => connectedOrg(askingOrgs(), ttlCache(60_000, now)));

/** For pickers, asked anew each time: an admin's new field shows at once. */
export const catalog = (): Org => once("catalog", () => connectedOrg(askingOrgs()));

/** Reads an org's own count of its API calls. */
export const usage = (): ((workspaceId: string) => Promise<CallUsage>) =>
  once("usage", () => usageReader(askingOrgs()));

/** Sessions with the customers' orgs, and where the calls are counted that the API itself makes. */
const askingOrgs = () => ({
  sessionsOf: (workspaceId: string) => sessionsOf({ connections: connections(), now }, workspaceId),
  countCalls: (workspaceId: string, apiCalls: Readonly<Record<string, number>>) =>
    counters().addCalls({ workspaceId, apiCalls }),
});

export const baselines = (): Baselines => once("baselines", () => baselinesIn(database()));

/** Wakes the dispatcher for events that were written with the change that they tell of. */
export const eventWakeUps = (): Pick<Events, "wake"> => events();

/** Looks into databases that are to be connected, and at what Heroku Connect has made of them. */
export { databases } from "../../lib/adapters/postgres/operations/inspect-database.ts";
export { herokuConnectSchemas } from "../../lib/adapters/postgres/operations/inspect-heroku-connect.ts";

export const monitoring = (): Monitoring => once("monitoring", () => postgresMonitoring(now));

export const engineReports = (): EngineReports => once("engineReports", () => engineReportsIn(database()));

export const orgReach = (): OrgReach => once("orgReach", () => orgReachIn(now));

/** Requests a minute and address: the contract's 300, and another figure only outside production. */
export function requestsPerMinute(): number {
  const asked = Number(process.env["RATE_LIMIT_PER_MINUTE"]);
  return process.env["STAGE"] !== "prod" && Number.isInteger(asked) && asked > 0 ? asked : REQUESTS_PER_MINUTE;
}

export const webhooks = (): Webhooks & WebhookSettings => once("webhooks", () => webhooksIn(database()));

export const deliveries = (): Deliveries => once("deliveries", () => deliveriesIn(database(), now));

export const eventRows = (): EventRows & Pick<Overdue, "events" | "postponeEvents"> =>
  once("eventRows", () => eventRowsIn(database(), now));

/** Where events begin. */
export const events = (): Events => once("events", () => publisher({ rows: eventRows(), queue: queue("events") }));

export const wakeUps = (): WakeUps => once("wakeUps", () => deliveryQueues(queues(), now));

export const overdue = (): Overdue => once("overdue", () => overdueIn(database(), deliveries(), eventRows()));

export const turns = (): Semaphore => once("turns", () => turnsIn(database(), SLOW_ATTEMPTS, now));

export const sender = (): Sender =>
  once("sender", () => webhookSender({ policy: addressPolicy(), resolve: resolveByDns() }));

/** With a domain of the operator's own (`BASE_URL`) the API is known by that name as well. */
export const urlGuard = (): UrlGuard =>
  once("urlGuard", () => {
    const own = process.env["BASE_URL"]?.replace(/^https?:\/\//, "") ?? null;
    return butNotOwn(urlGuardBy(addressPolicy(), resolveByDns()), own);
  });

const openedRanges = (process.env["OPENED_RANGES"] ?? "").split(",").filter((range) => range !== "");
for (const refused of openedRanges.map(refuseOpening)) {
  if (refused !== null) throw new Failure("VALIDATION_ERROR", `OPENED_RANGES: ${refused}`);
}

/**
 * Where customers may send us: HTTPS to public addresses unless the stage is `dev`. Loopback is the developer's own
 * machine only beside an embedded cloud: on AWS it is Lambda's runtime interface. `OPENED_RANGES` are the operator's.
 */
export function addressPolicy(): AddressPolicy {
  if (process.env["STAGE"] !== "dev") return { ...PRODUCTION, opened: openedRanges };
  return { ...DEVELOPMENT, opened: openedRanges, loopback: process.env["AWS_ENDPOINT_URL_SQS"] !== undefined };
}

/** Where databases and orgs of customers may be: any port, else what holds for webhooks. */
const connectionPolicy = (): AddressPolicy => ({ ...addressPolicy(), ports: null });

// Judged again whenever a connection is made: a name may lead elsewhere than when it was saved.
guardConnections((address) => refuseAddress(address, connectionPolicy()));

/** The same when a connection is saved. */
export const hostGuard = (): UrlGuard => once("hostGuard", () => urlGuardBy(connectionPolicy(), resolveByDns()));

export const rowQueriesOf = (): RowQueriesOf => once("rowDesks", () => rowDesksIn(now));
