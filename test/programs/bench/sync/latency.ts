import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { mappings } from "../../../../functions/services/composition.ts";
import { entryOf } from "../../../support/worlds/carry-out.ts";
import { startHostedBridge } from "../../../support/worlds/hosted-bridge.ts";
import { createTestWorkspace } from "../../../support/worlds/workspace.ts";
import { ask, askJson } from "./alone.ts";
import type { BenchServer } from "./bench-database.ts";
import { MAPPED_FIELDS } from "./bench-objects.ts";
import { type BenchOrg, startBenchOrg } from "./bench-org.ts";
import { type Figure, percentile, type Sizes } from "./figure.ts";

const OBJECT = "Late__c";
const TABLE = "salesforce.late__c";
const LOOK_MILLISECONDS = 100;
const PATIENCE_MILLISECONDS = 60_000;

/** From the commit on one side until it is seen on the other, on the real beat of the deployed bundles, at random phases. */
export async function measureLatency(
  server: BenchServer,
  { latencySamples, latencySeconds }: Sizes,
  say: (text: string) => void,
): Promise<Figure[]> {
  const org = await startBenchOrg({ [OBJECT]: 10 });
  const url = await server.createDatabase();
  const bridge = await startHostedBridge({ log: () => undefined });
  // The functions run in this process; what they print must not be among the figures.
  const print = console.log;
  console.log = () => undefined;
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    await startMapping(bridge.host.baseUrl, url, org);
    say(`${latencySamples} changes each way within ${latencySeconds} s`);
    const side = { client, org, latencySamples, latencySeconds };
    const [toSalesforce, toPostgres] = await Promise.all([toOrg(side), toTable(side)]);
    return [
      ...figuresOf("commit in PostgreSQL to Salesforce", toSalesforce),
      ...figuresOf("save in Salesforce to PostgreSQL", toPostgres),
    ];
  } finally {
    console.log = print;
    await client.end();
    await bridge.close();
    org.end();
  }
}

function figuresOf(name: string, seconds: readonly number[]): Figure[] {
  return [
    { name: `${name}, p50 of ${seconds.length}`, value: percentile(seconds, 50), unit: "s" },
    { name: `${name}, p95`, value: percentile(seconds, 95), unit: "s", atMost: 11 },
  ];
}

/** Resolves when the first load has ended. */
async function startMapping(baseUrl: string, url: string, org: BenchOrg): Promise<void> {
  const { id, token } = await createTestWorkspace({
    postgres: { url, schema: "salesforce" },
    salesforce: org.connection,
  });
  const answer = await fetch(`${baseUrl}/api/v1/t/${id}/config/import`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({
      version: 1,
      mappings: [entryOf({ object: OBJECT, fields: MAPPED_FIELDS, upsertField: "Key__c" })],
    }),
  });
  if (!answer.ok) throw new Error(`the import answered ${answer.status}: ${await answer.text()}`);
  await until(async () =>
    (await mappings().list(id)).mappings.every(({ provisioning }) => provisioning.state === "ready"),
  );
  const client = new Client({ connectionString: url });
  await client.connect();
  await until(
    async () => (await client.query("SELECT FROM salesforce._bridge_state WHERE position IS NOT NULL")).rows.length > 0,
  );
  await client.end();
}

interface Sides {
  readonly client: Client;
  readonly org: BenchOrg;
  readonly latencySamples: number;
  readonly latencySeconds: number;
}

async function toOrg({ client, org, ...sizes }: Sides): Promise<number[]> {
  const make = async (key: string) => {
    await client.query(`INSERT INTO ${TABLE} (name, key__c) VALUES ($1, $1)`, [key]);
  };
  const look = async (keys: readonly string[]) => {
    const soql = `SELECT Key__c FROM ${OBJECT} WHERE Key__c IN (${keys.map((key) => `'${key}'`).join(", ")})`;
    const { records } = await askJson<{ records: { Key__c: string }[] }>(
      org.connection,
      "GET",
      `/query?q=${encodeURIComponent(soql)}`,
    );
    return records.map(({ Key__c }) => Key__c);
  };
  return sample(sizes, make, look);
}

async function toTable({ client, org, ...sizes }: Sides): Promise<number[]> {
  const make = async (key: string) => {
    await ask(org.connection, "POST", `/sobjects/${OBJECT}`, { Name: key, Key__c: key });
  };
  const look = async (keys: readonly string[]) => {
    const { rows } = await client.query<{ key__c: string }>(`SELECT key__c FROM ${TABLE} WHERE key__c = ANY ($1)`, [
      keys,
    ]);
    return rows.map(({ key__c }) => key__c);
  };
  return sample(sizes, make, look);
}

/** Seconds from each change until it was seen. */
async function sample(
  { latencySamples, latencySeconds }: Pick<Sides, "latencySamples" | "latencySeconds">,
  make: (key: string) => Promise<void>,
  look: (keys: readonly string[]) => Promise<readonly string[]>,
): Promise<number[]> {
  const began = performance.now();
  const times = Array.from({ length: latencySamples }, () => Math.random() * latencySeconds * 1000).toSorted(
    (a, b) => a - b,
  );
  const open = new Map<string, number>();
  const seconds: number[] = [];
  const making = (async () => {
    for (const time of times) {
      await pause(Math.max(0, time - (performance.now() - began)));
      const key = randomUUID();
      await make(key);
      open.set(key, performance.now());
    }
  })();
  const until = began + latencySeconds * 1000 + PATIENCE_MILLISECONDS;
  while (seconds.length < latencySamples) {
    if (performance.now() > until) throw new Error(`${latencySamples - seconds.length} changes never arrived`);
    if (open.size > 0) {
      for (const key of await look([...open.keys()])) {
        seconds.push((performance.now() - (open.get(key) ?? Number.NaN)) / 1000);
        open.delete(key);
      }
    }
    await pause(LOOK_MILLISECONDS);
  }
  await making;
  return seconds;
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MILLISECONDS;
  while (!(await isSo().catch(() => false))) {
    if (Date.now() > deadline) throw new Error("the mapping was not ready within a minute");
    await pause(LOOK_MILLISECONDS);
  }
}
