import { cachePauses, cacheTokens, cacheWorkspaces } from "../../lib/access/cache.ts";
import type { Doorbells, DoorbellUrl } from "../../lib/access/ports.ts";
import { REQUESTS_PER_MINUTE } from "../../lib/access/rate-limit.ts";
import { connections as connectionsIn } from "../../lib/adapters/dynamodb/access/connections.ts";
import { pepper as pepperIn } from "../../lib/adapters/dynamodb/access/pepper.ts";
import { rateLimits as rateLimitsIn } from "../../lib/adapters/dynamodb/access/rate-limits.ts";
import { repeats as repeatsIn } from "../../lib/adapters/dynamodb/access/repeats.ts";
import { silentDatabases as silentIn } from "../../lib/adapters/dynamodb/access/silent-databases.ts";
import { tokens as tokensIn } from "../../lib/adapters/dynamodb/access/tokens.ts";
import { workspaces as workspacesIn } from "../../lib/adapters/dynamodb/access/workspaces.ts";
import { auditLog as auditLogIn } from "../../lib/adapters/dynamodb/audit.ts";
import { openDatabase } from "../../lib/adapters/dynamodb/client/client.ts";
import { deliveries as deliveriesIn } from "../../lib/adapters/dynamodb/delivery/deliveries.ts";
import { eventRows as eventRowsIn } from "../../lib/adapters/dynamodb/delivery/events.ts";
import { semaphore as slotsIn } from "../../lib/adapters/dynamodb/delivery/semaphore.ts";
import { webhooks as webhooksIn } from "../../lib/adapters/dynamodb/delivery/webhooks.ts";
import { counters as countersIn } from "../../lib/adapters/dynamodb/engine/counters.ts";
import { claimWake as claimWakeIn, doorbells as doorbellsIn } from "../../lib/adapters/dynamodb/engine/doorbells.ts";
import {
  callShares as callSharesIn,
  engineReports as engineReportsIn,
} from "../../lib/adapters/dynamodb/engine/engine.ts";
import { keepFigures } from "../../lib/adapters/dynamodb/engine/kept-figures.ts";
import { metricsPages } from "../../lib/adapters/dynamodb/engine/metrics-page.ts";
import { polls as pollsIn } from "../../lib/adapters/dynamodb/engine/polls.ts";
import { restores as restoresIn } from "../../lib/adapters/dynamodb/engine/restores.ts";
import { ticks as ticksIn } from "../../lib/adapters/dynamodb/engine/ticks.ts";
import { baselines as baselinesIn } from "../../lib/adapters/dynamodb/mappings/baselines.ts";
import { importPlans as importPlansIn } from "../../lib/adapters/dynamodb/mappings/import-plans.ts";
import { cachedMappings as cachedMappingsIn } from "../../lib/adapters/dynamodb/mappings/mapping-cache.ts";
import { mappings as mappingsIn } from "../../lib/adapters/dynamodb/mappings/mappings.ts";
import { postgresMonitoring } from "../../lib/adapters/postgres/operations/monitoring.ts";
import { rowQueriesOf as rowDesksIn } from "../../lib/adapters/postgres/operations/row-operations.ts";
import { connectedOrg, saveProbe, usageReader } from "../../lib/adapters/salesforce/describe/connected-org.ts";
import { orgReach as orgReachIn } from "../../lib/adapters/salesforce/org-reach.ts";
import { recordCounter, recordsReader } from "../../lib/adapters/salesforce/read/record-reader.ts";
import { sessionsOf } from "../../lib/adapters/salesforce/session/sessions.ts";
import { keyState as keyStateIn, kmsDataKeys } from "../../lib/adapters/secrets/data-keys.ts";
import { readKept, refuseKept as refuseKeptAt } from "../../lib/adapters/secrets/kept-credentials.ts";
import { envelopeVault } from "../../lib/adapters/secrets/vault.ts";
import { openQueues } from "../../lib/adapters/sqs/client.ts";
import { deliveryQueues } from "../../lib/adapters/sqs/delivery-queues.ts";
import { queue as queueOf } from "../../lib/adapters/sqs/queue.ts";
import { now } from "../../lib/adapters/time.ts";
import { refuseAddress } from "../../lib/adapters/webhook-client/addresses.ts";
import { urlGuard as urlGuardBy } from "../../lib/adapters/webhook-client/guard.ts";
import { webhookSender } from "../../lib/adapters/webhook-client/post.ts";
import { resolveByDns } from "../../lib/adapters/webhook-client/resolve.ts";
import { scraper } from "../../lib/metrics/scrape.ts";
import { type AddressPolicy, DEVELOPMENT, PRODUCTION, refuseOpening } from "../../lib/model/address.ts";
import { createCache } from "../../lib/model/cache.ts";
import { SLOW_ATTEMPTS } from "../../lib/model/delivery/webhook.ts";
import { Failure } from "../../lib/model/failure.ts";
import type { Queue, QueueMessages } from "../../lib/model/messages.ts";
import { keptDaysIn, queueVariable, tableVariable } from "../../lib/model/resources.ts";
import { hasProductionRules } from "../../lib/model/stage.ts";
import { guardConnections } from "../../lib/network/guarded-dns.ts";
import { keptAt, readCredentialsBy } from "../../lib/network/kept-credentials.ts";
import type { WakeUpTimes } from "../../lib/sync/ports/wake-ports.ts";
import { butNotOwn } from "../../lib/webhooks/own-address.ts";
import type { Events } from "../../lib/webhooks/ports.ts";
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

/** The deployment's settings of this function. */
export function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") throw new Error(`the environment variable ${name} is not set`);
  return value;
}

export { now };

export const database = () =>
  once("database", () => openDatabase((name) => setting(tableVariable(name)), keptDaysIn(process.env)));

const queues = () => once("queues", () => openQueues((name) => setting(queueVariable(name))));

/** The queue of this name. */
export const queue = <Name extends keyof QueueMessages>(name: Name): Queue<QueueMessages[Name]> =>
  queueOf(queues(), name);

export const vault = () => once("vault", freshVault);

/** One that knows no data key yet. */
export const freshVault = () => envelopeVault(kmsDataKeys(setting("KEY_ID"), now));

export const keyState = () => keyStateIn(setting("KEY_ID"));

export const pepper = () => once("pepper", () => pepperIn(database(), vault(), now));

export const workspaces = () => once("workspaces", () => workspacesIn(database(), vault()));

export const cachedWorkspaces = () => once("cachedWorkspaces", () => cacheWorkspaces(workspaces(), now));

export const pauses = () => once("pauses", () => cachePauses(workspaces(), now));

export const tokens = () => once("tokens", () => cacheTokens(tokensIn(database()), now));

export const rateLimits = () => once("rateLimits", () => rateLimitsIn(database()));

export const repeats = () => once("repeats", () => repeatsIn(database(), vault()));

export const mappings = () => once("mappings", () => mappingsIn(database()));

export const cachedMappings = () => once("cachedMappings", () => cachedMappingsIn(database()));

export const importPlans = () => once("importPlans", () => importPlansIn(database()));

export const auditLog = () => once("auditLog", () => auditLogIn(database(), now));

export const figures = () => once("figures", () => keepFigures(database(), now));

export const counters = () => once("counters", () => countersIn(database()));

export const connections = () => once("connections", () => connectionsIn(database(), vault()));

/** For imports, by descriptions of the last minute. Asking the org writes `counters`, for its calls are counted. */
export const org = () => once("org", () => connectedOrg(askingOrgs(), { milliseconds: 60_000, now }));

/** For pickers, asked again each time: an admin's new field shows at once. */
export const catalog = () => once("catalog", () => connectedOrg(askingOrgs()));

/** Reads an org's own count of its API calls. */
export const usage = () => once("usage", () => usageReader(askingOrgs()));

/** Reads records as the org shows them now. */
export const recordsOf = () => once("recordsOf", () => recordsReader(askingOrgs()));

/** The same with one; null: the org shows none. */
export const recordOf = () => async (workspaceId: string, soql: string) =>
  (await recordsOf()(workspaceId, soql))[0] ?? null;

/** Counts what meets a condition. */
export const countRecords = () => once("countRecords", () => recordCounter(askingOrgs()));

/** Asks an org whether it would save. */
export const saves = () => once("saves", () => saveProbe(askingOrgs()));

/** Sessions with the customers' orgs, and where the calls are counted that the API itself makes. */
const askingOrgs = () => ({
  sessionsOf: (workspaceId: string) => sessionsOf({ connections: connections(), now }, workspaceId),
  countCalls: (workspaceId: string, apiCalls: Readonly<Record<string, number>>) =>
    counters().addCalls({ workspaceId, apiCalls }),
});

export const baselines = () => once("baselines", () => baselinesIn(database()));

/** Wakes the dispatcher for events that were written with the change that they announce. */
export const eventWakeUps = (): Pick<Events, "wake"> => events();

/** Inspects databases before they are connected, and what Heroku Connect has created in them. */
export { databases } from "../../lib/adapters/postgres/operations/inspect-database.ts";
export { herokuConnectSchemas } from "../../lib/heroku-connect/inspect-heroku-connect.ts";

const silentDatabases = () => once("silentDatabases", () => silentIn(database()));

export const monitoring = () => once("monitoring", () => postgresMonitoring(now, silentDatabases()));

export const polls = () => once("polls", () => pollsIn(database()));

export const wakeUpTimes = (): WakeUpTimes => ({ claimWake: (asked) => claimWakeIn(database(), asked) });

export const doorbells = () => once("doorbells", () => doorbellsIn(database()));

/** As this process read them in the last three seconds, so that a ring costs no reading. */
export const cachedDoorbells = (): Doorbells["read"] =>
  once("cachedDoorbells", () => {
    const found = createCache<DoorbellUrl>({ ttl: { milliseconds: 3_000, now } });
    return (workspaceId) => found(workspaceId, () => doorbells().read(workspaceId));
  });

/** Where the service is reached from outside: as its operator says, never as a caller writes it. Null: nowhere. */
export const publicAddress = (): string | null => /^https?:\/\/.*[^/]/.exec(process.env["BASE_URL"] ?? "")?.[0] ?? null;

export const engineReports = () => once("engineReports", () => engineReportsIn(database(), now));

export const ticks = () => once("ticks", () => ticksIn(database()));

export const restores = () => once("restores", () => restoresIn(database()));

export const scrape = () => once("scrape", () => scraper(counters(), engineReports(), metricsPages(database())));

export const callShares = () => once("callShares", () => callSharesIn(database()));

export const orgReach = () => once("orgReach", () => orgReachIn(now));

/** Requests a minute and address: the contract's 300, and another figure only outside production. */
export function requestsPerMinute(): number {
  const asked = Number(process.env["RATE_LIMIT_PER_MINUTE"]);
  return !hasProductionRules(process.env["STAGE"]) && Number.isInteger(asked) && asked > 0
    ? asked
    : REQUESTS_PER_MINUTE;
}

export const webhooks = () => once("webhooks", () => webhooksIn(database()));

export const deliveries = () => once("deliveries", () => deliveriesIn(database(), now));

export const eventRows = () => once("eventRows", () => eventRowsIn(database(), now));

/** Where events begin. */
export const events = () => once("events", () => publisher({ rows: eventRows(), queue: queue("events") }));

export const wakeUps = () => once("wakeUps", () => deliveryQueues(queues(), now));

export const slowSlots = () => once("slowSlots", () => slotsIn(database(), SLOW_ATTEMPTS, now));

export const sender = () => once("sender", () => webhookSender({ policy: addressPolicy(), resolve: resolveByDns() }));

/** With a domain of the operator's own (`BASE_URL`) the API is known by that name as well. */
export const urlGuard = () =>
  once("urlGuard", () => {
    const own = publicAddress()?.replace(/^https?:\/\//, "") ?? null;
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

/** Guards each connection of this process by the deployment's rules: a name may lead elsewhere than when it was saved. */
export const guardByPolicy = () => guardConnections((address) => refuseAddress(address, connectionPolicy()));

guardByPolicy();
readCredentialsBy(readKept);

/** Why a workspace may not use the credentials that a database URL names. */
export async function refuseKept(url: string, workspaceId: string): Promise<string | null> {
  const place = keptAt(url);
  return place && refuseKeptAt(place, workspaceId);
}

/** The same when a connection is saved. */
export const hostGuard = () => once("hostGuard", () => urlGuardBy(connectionPolicy(), resolveByDns()));

export const rowQueriesOf = () => once("rowDesks", () => rowDesksIn(now, silentDatabases()));

/** For what a person does to rows, which is audited. */
export const byHand = () => ({ rowQueries: rowQueriesOf(), audit: auditLog() });
