/**
 * What the service keeps and what wakes it: the tables, queues and workers, by name. The deployment, the local cloud
 * and the adapters read the same rows. Every table has a string key `pk`, most a string sort key `sk`, and expires
 * items by `expires_at` (epoch seconds), which every read checks itself because DynamoDB deletes late.
 */

interface Index {
  readonly name: string;
  readonly pk: string;
  readonly sk: string;
  /** What it holds beside the keys: everything, nothing, or these attributes. */
  readonly projection: "all" | "keys" | readonly string[];
}

interface Table {
  readonly sorted: boolean;
  readonly indexes: readonly Index[];
  readonly holds: string;
}

export const TABLES = {
  workspaces: {
    sorted: true,
    indexes: [],
    holds: "workspaces, their connections (credentials encrypted) and the service's own secrets",
  },
  mappings: {
    sorted: true,
    indexes: [],
    holds: "mappings, their guard items (one per object and per table), import plans",
  },
  engine: {
    sorted: true,
    indexes: [],
    holds:
      "the engine's state per mapping; the probe's slot, the call budget and the doorbell per workspace; how far the daily checks and ticks are, ends of polls, and figures for the metrics",
  },
  tokens: {
    sorted: false,
    indexes: [{ name: "by-workspace", pk: "workspace_id", sk: "created_at", projection: "all" }],
    holds: "API tokens by keyed hash",
  },
  webhooks: { sorted: true, indexes: [], holds: "webhooks, their secrets encrypted, and the slots of slow ones" },
  deliveries: {
    sorted: false,
    indexes: [
      { name: "list-by-webhook", pk: "webhook_id", sk: "listed_at", projection: ["listed"] },
      { name: "by-due", pk: "due_shard", sk: "due_at", projection: "keys" },
    ],
    holds: "deliveries, each with the event's body and its newest attempt",
  },
  attempts: { sorted: true, indexes: [], holds: "attempts of deliveries that a newer one has replaced" },
  events: { sorted: true, indexes: [], holds: "events that wait to be dispatched" },
  audit: { sorted: true, indexes: [], holds: "audit entries, dense by sequence number per filter key" },
  baselines: { sorted: true, indexes: [], holds: "pinned configurations, in chunks" },
  counters: {
    sorted: true,
    indexes: [],
    holds: "the totals that the metrics endpoint shows, calls and changes by hour, and pauses that were announced",
  },
  rateLimits: {
    sorted: false,
    indexes: [],
    holds: "requests counted per source and minute, sealed answers to named requests, and databases that are silent",
  },
} as const satisfies Record<string, Table>;

export type TableName = keyof typeof TABLES;

/** The environment variable with a table's physical name: `TABLE_RATE_LIMITS`. */
export const tableVariable = (name: TableName): string => `TABLE_${upperSnake(name)}`;

interface Queue {
  /** Seconds that a message waits before it can be seen, unless it says otherwise itself. */
  readonly delaySeconds: number;
  /** Receives before a message moves to the dead-letter queue; Lambda asks for at least five, because throttles count. */
  readonly maxReceives: number;
  readonly holds: string;
}

export const QUEUES = {
  fanOut: { delaySeconds: 0, maxReceives: 5, holds: "ticks: one in five minutes and active mapping" },
  cycles: { delaySeconds: 0, maxReceives: 5, holds: "beats of up to fifty mappings each, polls and pulls" },
  loads: { delaySeconds: 0, maxReceives: 20, holds: "first loads, backfills and sweeps" },
  provisioning: {
    delaySeconds: 0,
    maxReceives: 20,
    holds: "changes of mappings that wait for their tables, triggers and schedules",
  },
  sweeps: { delaySeconds: 0, maxReceives: 5, holds: "the minute sweeper's ticks" },
  events: { delaySeconds: 0, maxReceives: 20, holds: "events to dispatch" },
  deliveries: { delaySeconds: 0, maxReceives: 20, holds: "deliveries to attempt now" },
  slowDeliveries: { delaySeconds: 0, maxReceives: 20, holds: "deliveries to attempt now for slow webhooks" },
  retriesShort: { delaySeconds: 30, maxReceives: 20, holds: "first retries" },
  retriesMedium: { delaySeconds: 300, maxReceives: 20, holds: "second retries" },
  retriesLong: { delaySeconds: 900, maxReceives: 20, holds: "third and fourth retries, in hops" },
} as const satisfies Record<string, Queue>;

export type QueueName = keyof typeof QUEUES;

/** The environment variable with a queue's URL: `QUEUE_FAN_OUT`. */
export const queueVariable = (name: QueueName): string => `QUEUE_${upperSnake(name)}`;

/** The service itself, where the vault asks for a workspace. */
export const SERVICE = "service";

/** What a function may touch; the deployment turns each into a variable and a grant in one call. */
export interface Access {
  readonly reads?: readonly TableName[];
  readonly writes?: readonly TableName[];
  /** Of these, the tables that it reads from end to end; it reaches the items of all others by their keys alone. */
  readonly scans?: readonly TableName[];
  readonly sends?: readonly QueueName[];
  /** What it decrypts and encrypts with the key (`KEY_ID`): the service's own secret, or those of workspaces as well. */
  readonly secrets?: "service" | "workspaces";
  /** Asks whether the service's key is still enabled. */
  readonly watchesKey?: boolean;
  /** Creates and deletes mappings' schedules (`SCHEDULE_GROUP`, `SCHEDULER_ROLE_ARN`, `FAN_OUT_QUEUE_ARN`). */
  readonly schedules?: boolean;
  /** Writes what cycles saw as CloudWatch metrics (`METRICS_NAMESPACE`). */
  readonly figures?: boolean;
  /** Reads or writes customers' databases, so it trusts Amazon's own certificates as well as the public ones. */
  readonly postgres?: boolean;
  /** Asks customers' orgs and no database: functions that ask either are in the operator's private network. */
  readonly org?: boolean;
}

/** How large a worker is; infra/SIZING.md has the reasons. */
interface Worker extends Access {
  readonly queue: QueueName;
  readonly batchSize: number;
  /** Seconds to gather a batch; AWS asks for at least 1 above ten messages. */
  readonly batchWindowSeconds: number;
  readonly maxConcurrency: number;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  /** The bundle talks to Salesforce, so it holds jsforce. */
  readonly salesforce?: true;
  /**
   * Why it may cause its own messages however often. Lambda counts a function's calls in consequence of one event, a
   * batch's messages together, and refuses the seventeenth unless `RecursiveLoop` says that it is intended.
   */
  readonly resends?: string;
}

/**
 * What sends attempts. A batch is sent at once, so it takes the five seconds of an attempt and a little more. First
 * attempts, each kind of retry and all attempts for slow webhooks have functions of their own: neither a dead receiver
 * nor a crowd of retries delays what is new for the others.
 */
const DELIVERER = {
  batchSize: 10,
  batchWindowSeconds: 0,
  maxConcurrency: 20,
  // As long as a claim lasts (`CLAIM_SECONDS`).
  timeoutSeconds: 30,
  memoryMegabytes: 512,
  resends: "A wait of hours consists of hops of 15 minutes, and a delivery without a slot at a slow webhook comes back",
  writes: ["webhooks", "deliveries", "attempts"],
  sends: ["deliveries", "slowDeliveries", "retriesShort", "retriesMedium", "retriesLong"],
  secrets: "workspaces",
} as const;

const CYCLE_TABLES = ["workspaces", "mappings"] as const;

export const WORKERS = {
  "fan-out-cycles": {
    queue: "fanOut",
    // Ticks are gathered, so that mappings of one workspace share their messages, calls and readings (`beat.ts`).
    batchSize: 100,
    batchWindowSeconds: 75,
    maxConcurrency: 10,
    timeoutSeconds: 30,
    memoryMegabytes: 256,
    figures: true,
    writes: ["engine"],
    sends: ["cycles"],
  },
  "run-cycle": {
    queue: "cycles",
    batchSize: 10,
    batchWindowSeconds: 0,
    maxConcurrency: 100,
    timeoutSeconds: 180,
    memoryMegabytes: 1024,
    salesforce: true,
    postgres: true,
    figures: true,
    resends: "A poll that meets a running cycle comes back every three seconds, and the probe sends pulls to others",
    reads: CYCLE_TABLES,
    writes: ["engine", "workspaces", "counters", "events"],
    sends: ["cycles", "events", "loads"],
    secrets: "workspaces",
  },
  "load-mapping": {
    queue: "loads",
    batchSize: 1,
    batchWindowSeconds: 0,
    maxConcurrency: 10,
    timeoutSeconds: 900,
    memoryMegabytes: 1024,
    salesforce: true,
    postgres: true,
    resends: "A load of many hours is carried on from one call to the next",
    reads: CYCLE_TABLES,
    writes: ["engine", "workspaces", "counters", "events"],
    sends: ["cycles", "events", "loads"],
    secrets: "workspaces",
  },
  "provision-mapping": {
    queue: "provisioning",
    batchSize: 1,
    batchWindowSeconds: 0,
    maxConcurrency: 10,
    timeoutSeconds: 300,
    memoryMegabytes: 512,
    salesforce: true,
    postgres: true,
    resends: "The rest of a large import is carried on from one call to the next, and wakes its mappings",
    reads: CYCLE_TABLES,
    writes: ["mappings", "engine", "workspaces", "audit", "counters", "events"],
    sends: ["cycles", "events", "loads", "provisioning"],
    secrets: "workspaces",
    schedules: true,
  },
  "sweep-minute": {
    queue: "sweeps",
    batchSize: 1,
    batchWindowSeconds: 0,
    maxConcurrency: 2,
    timeoutSeconds: 120,
    memoryMegabytes: 256,
    postgres: true,
    figures: true,
    reads: ["workspaces", "mappings", "webhooks"],
    scans: ["workspaces", "mappings", "events", "engine"],
    writes: ["engine", "deliveries", "events", "counters", "audit", "rateLimits"],
    sends: ["cycles", "provisioning", "loads", "events", "slowDeliveries"],
    secrets: "workspaces",
    watchesKey: true,
    schedules: true,
  },
  "dispatch-events": {
    queue: "events",
    batchSize: 10,
    batchWindowSeconds: 0,
    maxConcurrency: 20,
    timeoutSeconds: 30,
    memoryMegabytes: 256,
    reads: ["webhooks"],
    writes: ["events", "deliveries"],
    sends: ["deliveries", "slowDeliveries"],
  },
  "deliver-webhook": { ...DELIVERER, queue: "deliveries" },
  // Where dead receivers are, a batch takes five seconds however many it has: small ones would let the rest wait.
  "deliver-slow-webhook": { ...DELIVERER, queue: "slowDeliveries", batchSize: 100, batchWindowSeconds: 1 },
  "retry-webhook-short": { ...DELIVERER, queue: "retriesShort" },
  "retry-webhook-medium": { ...DELIVERER, queue: "retriesMedium" },
  "retry-webhook-long": { ...DELIVERER, queue: "retriesLong" },
} as const satisfies Record<string, Worker>;

export type WorkerName = keyof typeof WORKERS;

function upperSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

/** Days that the deployment keeps deliveries with their attempts, and audit entries. */
export interface KeptDays {
  readonly deliveryDays: number;
  readonly auditDays: number;
}

/** By which variables an operator chooses them, and what they are otherwise. */
export const KEPT_DAYS = {
  deliveryDays: { variable: "DELIVERY_DAYS", unset: 30 },
  auditDays: { variable: "AUDIT_DAYS", unset: 400 },
} as const;

const LONGEST_DAYS = 3650;

/** The days that an environment names. Throws with the variable when one is no such number. */
export function keptDaysIn(environment: Readonly<Record<string, string | undefined>>): KeptDays {
  const daysOf = ({ variable, unset }: (typeof KEPT_DAYS)[keyof KeptDays]) =>
    readDays(variable, environment[variable] || unset);
  return { deliveryDays: daysOf(KEPT_DAYS.deliveryDays), auditDays: daysOf(KEPT_DAYS.auditDays) };
}

/** A number of days as it was given under a name. */
export function readDays(name: string, given: unknown): number {
  const days = Number(given);
  if (given !== "" && Number.isInteger(days) && days >= 1 && days <= LONGEST_DAYS) return days;
  throw new Error(`${name} must be a whole number of days from 1 to ${LONGEST_DAYS}, not "${String(given)}"`);
}

/** The variable with the operator's commands that print database URLs, on one machine; none in AWS. */
export const CREDENTIAL_COMMANDS = "CREDENTIAL_COMMANDS";

/** These commands by their names. Throws with the variable where it is no JSON object of texts. */
export function credentialCommandsIn(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const given = objectIn(environment[CREDENTIAL_COMMANDS] || "{}");
  if (given !== null && Object.values(given).every((one) => typeof one === "string"))
    return given as Record<string, string>;
  throw new Error(
    `${CREDENTIAL_COMMANDS} must be a JSON object: {"shop": "heroku config:get DATABASE_URL --app shop"}`,
  );
}

function objectIn(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
