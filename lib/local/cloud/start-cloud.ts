import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { type Clock, systemClock } from "../clock.ts";
import { lockFolder } from "../folder-lock.ts";
import { AwsError } from "./aws-error.ts";
import { ensureTable, type TableProperties } from "./dynamodb/ensure-table.ts";
import { keepDynamoDb } from "./dynamodb/keep-dynamodb.ts";
import { sweepExpired } from "./dynamodb/sweep-expired.ts";
import { listen } from "./http-listener.ts";
import { type Kms, openKms } from "./kms/kms.ts";
import type { Jitter } from "./scheduler/jitter.ts";
import { openScheduler, type Scheduler } from "./scheduler/scheduler.ts";
import { openSqs, type Sqs } from "./sqs/sqs.ts";

/** How to start the embedded cloud. */
export interface CloudSettings {
  /** Everything is kept here; one process at a time may own it. */
  readonly dataDir: string;
  readonly clock?: Clock;
  /** Fixed ports instead of free ones. */
  readonly ports?: { readonly services?: number; readonly dynamodb?: number };
  /** False leaves expired items to `dynamodb.sweepExpired`, for clocks that run through days. */
  readonly sweepsExpiredItems?: boolean;
  /** How late schedules fire; 0 to 59 seconds as on AWS unless given. */
  readonly jitter?: Jitter;
  /** Receives unexpected errors. Prints to stderr unless given. */
  readonly onFault?: (fault: unknown) => void;
}

/** The running cloud. */
export interface Cloud {
  readonly region: string;
  readonly accountId: string;
  readonly endpoints: Readonly<Record<"dynamodb" | "sqs" | "scheduler" | "kms", string>>;
  /** The SDK's own variables: a process with them uses this cloud. */
  readonly environment: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly sqs: Sqs;
  readonly scheduler: Scheduler;
  readonly kms: Kms;
  readonly dynamodb: {
    ensureTable(properties: TableProperties): Promise<void>;
    sweepExpired(): Promise<number>;
    /** Resolves when its process has ended and cannot be started again; never because of `close`. */
    readonly lost: Promise<void>;
  };
  close(): Promise<void>;
}

const REGION = "eu-local-1";
const ACCOUNT_ID = "000000000000";
/** AWS takes days to delete what has expired; a sweep reads every item. */
const SWEEP_EVERY_MILLISECONDS = 60 * 60_000;

/** Starts DynamoDB, SQS, EventBridge Scheduler and KMS on 127.0.0.1 over one data folder. Throws when another process owns the folder. */
export async function startCloud(settings: CloudSettings): Promise<Cloud> {
  const { dataDir, clock = systemClock, ports = {}, onFault = console.error } = settings;
  const lock = lockFolder(dataDir);
  const closers: Array<() => unknown> = [lock.release];
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    let address = "";
    const endpoint = () => address;
    const shared = { clock, region: REGION, accountId: ACCOUNT_ID };
    const credentials = { accessKeyId: newAccessKeyId(), secretAccessKey: "local" };
    const kms = openKms({ ...shared, file: join(dataDir, "kms-keys.json") });
    const sqs = openSqs({ ...shared, endpoint, file: join(dataDir, "sqs.sqlite") });
    closers.push(sqs.close);
    const scheduler = openScheduler({
      ...shared,
      file: join(dataDir, "scheduler.sqlite"),
      deliver: (arn, input) => deliver(sqs, arn, input),
      onLost: onFault,
      ...(settings.jitter && { jitter: settings.jitter }),
    });
    closers.push(scheduler.close);
    const listener = await listen({
      port: ports.services ?? 0,
      region: REGION,
      accessKeyId: credentials.accessKeyId,
      jsonServices: [sqs.service, kms.service],
      restServices: [scheduler.service],
      onFault,
    });
    address = `http://127.0.0.1:${listener.port}`;
    closers.push(listener.close);
    const server = await keepDynamoDb(dataDir, ports.dynamodb, onFault);
    closers.push(server.close);
    const client = new DynamoDBClient({ endpoint: server.endpoint, region: REGION, credentials });
    closers.push(() => client.destroy());
    const sweep = () => sweepExpired(client, new Date(clock.now()));
    if (settings.sweepsExpiredItems ?? true) closers.push(everyHour(clock, sweep, onFault));

    const endpoints = { dynamodb: server.endpoint, sqs: address, scheduler: address, kms: address };
    return {
      region: REGION,
      accountId: ACCOUNT_ID,
      endpoints,
      environment: environmentFor(endpoints, credentials),
      clock,
      sqs,
      scheduler,
      kms,
      dynamodb: {
        ensureTable: (properties) => ensureTable(client, properties),
        sweepExpired: sweep,
        lost: server.lost,
      },
      close: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

function deliver(sqs: Sqs, queueArn: string, MessageBody: string): void {
  const QueueUrl = sqs.urlOfArn(queueArn);
  if (QueueUrl === undefined) throw new AwsError("QueueDoesNotExist", `there is no queue ${queueArn}`);
  sqs.actions.SendMessage({ QueueUrl, MessageBody });
}

/**
 * Another one at each start: it opens the services, so only the owner can read it. The embedded DynamoDB accepts any;
 * what is secret there is sealed by KMS.
 */
const newAccessKeyId = (): string => `AKIA${randomBytes(16).toString("hex").toUpperCase()}`;

function environmentFor(
  endpoints: Readonly<Record<string, string>>,
  { accessKeyId, secretAccessKey }: { readonly accessKeyId: string; readonly secretAccessKey: string },
): Record<string, string> {
  const urls = Object.entries(endpoints).map(([name, url]) => [`AWS_ENDPOINT_URL_${name.toUpperCase()}`, url]);
  return {
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    ...Object.fromEntries(urls),
  };
}

/** Repeats the work each hour of the clock, an hour after it began. */
function everyHour(clock: Clock, work: () => Promise<unknown>, onFault: (fault: unknown) => void): () => Promise<void> {
  let running: Promise<unknown> = Promise.resolve();
  const book = () =>
    clock.at(clock.now() + SWEEP_EVERY_MILLISECONDS, () => {
      running = work().catch(onFault);
      cancel = book();
      return running;
    });
  let cancel = book();
  return async () => {
    cancel();
    await running;
  };
}
