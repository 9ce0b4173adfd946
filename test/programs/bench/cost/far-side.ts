import { createServer as createHttpServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import type { SalesforceConnection } from "../../../../lib/model/workspace/workspace.ts";
import { startConnectedOrg } from "../../../support/worlds/connected-org.ts";

/**
 * What lies far from Lambda, in a process of its own: an org, and relays that put a distance before it, before DynamoDB
 * and before PostgreSQL. Started with `far-side.ts <DynamoDB port> <PostgreSQL port> <objects of the org> <epoch
 * milliseconds>`, it sends a `FarSide`, and answers each message with the units that DynamoDB has counted since the last one.
 */

/** Milliseconds of a round trip, and of what it takes to have a session. */
export const DISTANCES = { dynamodb: 8, postgres: 10, postgresConnect: 60, salesforce: 250 } as const;

/** Where the relays are, and how a workspace is connected to the org behind its relay. */
export interface FarSide {
  readonly dynamodbPort: number;
  readonly postgresPort: number;
  readonly salesforce: SalesforceConnection;
}

/** Epoch milliseconds. */
export interface Instant {
  readonly at: number;
}

/** What DynamoDB counted. */
export interface Units {
  readonly read: number;
  readonly write: number;
}

/** PostgreSQL's message that a session is ready for its next statement, idle. */
const READY = Buffer.from("5a0000000549", "hex");

if (process.send) {
  const [dynamodb = 0, postgres = 0, things = 0, startsAt = 0] = process.argv.slice(2).map(Number);
  let now = startsAt;
  const clock = { now: () => new Date(now), sleep: (milliseconds: number) => pause(milliseconds) };
  const org = await startConnectedOrg({ things, dailyApiRequests: 1_000_000_000, clock });
  const orgPort = Number(new URL(org.connection.loginUrl).port);
  const units = { read: 0, write: 0 };
  const [dynamodbPort, postgresPort, salesforcePort] = await Promise.all([
    listenOn(createHttpServer((asked, answer) => void relayCounted(dynamodb, units, asked, answer))),
    listenOn(createServer((client) => relay(client, postgres, sessionDelay()))),
    listenOn(createServer((client) => relay(client, orgPort, () => DISTANCES.salesforce))),
  ]);
  const url = `http://127.0.0.1:${salesforcePort}`;
  process.on("message", (asked: "units" | Instant) => {
    if (asked !== "units") {
      now = asked.at;
      process.send?.(asked);
      return;
    }
    process.send?.({ ...units });
    Object.assign(units, { read: 0, write: 0 });
  });
  process.on("disconnect", () => void org.close().then(() => process.exit()));
  const farSide = { dynamodbPort, postgresPort, salesforce: { ...org.connection, loginUrl: url, instanceUrl: url } };
  process.send(farSide satisfies FarSide);
}

function listenOn(server: ReturnType<typeof createServer> | ReturnType<typeof createHttpServer>): Promise<number> {
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));
}

/** What a client sends arrives later; what it gets back does not, so that a round trip has its length once. */
function relay(client: Socket, port: number, delayOf: (answered: Buffer | null) => number): void {
  const server = connect(port, "127.0.0.1");
  const end = () => {
    client.destroy();
    server.destroy();
  };
  for (const side of [client, server]) {
    side.setNoDelay(true);
    side.on("error", end);
    side.on("close", end);
  }
  server.on("data", (chunk: Buffer) => {
    delayOf(chunk);
    client.write(chunk);
  });
  let sending: Promise<unknown> = Promise.resolve();
  client.on("data", (chunk: Buffer) => {
    const due = performance.now() + delayOf(null);
    sending = sending.then(async () => {
      await pause(Math.max(0, due - performance.now()));
      server.write(chunk);
    });
  });
}

/** A session takes its time until it is ready; from then on each statement is a trip. */
function sessionDelay(): (answered: Buffer | null) => number {
  const began = performance.now();
  let isReady = false;
  return (answered) => {
    if (answered) {
      isReady ||= answered.includes(READY);
      return 0;
    }
    if (isReady) return DISTANCES.postgres;
    // Whatever number of messages a session takes: the last of them arrives when its time is over.
    return Math.max(0, DISTANCES.postgresConnect - (performance.now() - began));
  };
}

/** Asks DynamoDB for the cost of each call, and counts it. */
async function relayCounted(
  port: number,
  units: { read: number; write: number },
  asked: IncomingMessage,
  answer: ServerResponse,
): Promise<void> {
  const [, action = ""] = String(asked.headers["x-amz-target"]).split(".");
  const [given] = await Promise.all([text(asked), pause(DISTANCES.dynamodb)]);
  const body = JSON.stringify({ ...(JSON.parse(given) as object), ReturnConsumedCapacity: "TOTAL" });
  const headers = { ...asked.headers, "content-length": String(Buffer.byteLength(body)) };
  const onward = request({ port, host: "127.0.0.1", method: "POST", path: asked.url, headers }, async (answered) => {
    const said = await text(answered);
    const consumed = consumedBy(said);
    const isRead = /^(Get|BatchGet|Query|Scan|TransactGet)/.test(action);
    // A write whose condition does not hold costs as much as one that succeeds; its answer does not say so.
    units[isRead ? "read" : "write"] += isRead || consumed > 0 ? consumed : 1;
    const { "x-amz-crc32": _checksum, "transfer-encoding": _encoding, ...kept } = answered.headers;
    answer.writeHead(answered.statusCode ?? 500, { ...kept, "content-length": String(Buffer.byteLength(said)) });
    answer.end(said);
  });
  onward.on("error", () => answer.destroy());
  onward.end(body);
}

function consumedBy(said: string): number {
  const { ConsumedCapacity: consumed } = JSON.parse(said) as {
    ConsumedCapacity?: { CapacityUnits?: number } | readonly { CapacityUnits?: number }[];
  };
  return [consumed ?? []].flat().reduce((sum, { CapacityUnits = 0 }) => sum + CapacityUnits, 0);
}
