import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { queue } from "../../../../functions/services/composition.ts";
import { assemble } from "../../../../lib/local/assemble.ts";
import { createTestClock } from "../../../../lib/local/clock.ts";
import { startHost } from "../../../../lib/local/cloud/lambda/start-host.ts";
import { type Cloud, startCloud } from "../../../../lib/local/cloud/start-cloud.ts";
import { startPostgres } from "../../../../lib/local/postgres/start-postgres.ts";
import { entryOf } from "../../../support/worlds/carry-out.ts";
import { createTestWorkspace } from "../../../support/worlds/workspace.ts";
import { bridgeAsk } from "../../ask.ts";
import { answer } from "../apart.ts";
import { countServices, type ServiceCounts } from "./count-services.ts";
import type { FarSide, Instant, Units } from "./far-side.ts";
import { type Calls, measureCalls } from "./measure-calls.ts";

/** What one stretch of time took. */
export interface Used extends ServiceCounts {
  readonly seconds: number;
  /** By the function's physical name. */
  readonly functions: Readonly<Record<string, Calls>>;
  readonly units: Units;
  readonly logBytes: number;
}

/** What one workspace took whose mappings beat on a clock that is moved by hand, with real distances to everything. */
export interface Measured {
  readonly idle: Used;
  /** What happens once a day. */
  readonly day: Used;
  readonly busy: Used;
}

/** Lambda polls a queue by five connections at least; each gathers batches of its own. */
const POLLERS = 5;

/** Minutes until every mapping is loaded, has reported its totals once, and beats by its ticks alone, which share messages. */
const MINUTES_TO_START = 12;

/**
 * This file as a program, for functions open their connections once in a process: `simulate.ts <mappings> <minutes> <rows a
 * minute>` answers with a `Measured`.
 */
export const SIMULATION: string = import.meta.filename;
if (import.meta.main) {
  const [mappings = 0, minutes = 0, rows = 0] = process.argv.slice(2).map(Number);
  answer(await simulate(mappings, minutes, rows));
}

async function simulate(mappings: number, minutes: number, rows: number): Promise<Measured> {
  const progress = (line: string) => process.stderr.write(`${mappings} mappings: ${line}\n`);
  progress("starting");
  const folder = mkdtempSync(join(tmpdir(), "bridge-cost-"));
  const clock = createTestClock(new Date());
  const [cloud, postgres, assembly] = await Promise.all([
    startCloud({ dataDir: join(folder, "cloud"), clock, sweepsExpiredItems: false }),
    startPostgres({ dataDir: join(folder, "postgres") }),
    assemble(),
  ]);
  const { child, farSide } = await startFarSide(cloud, postgres.url, mappings, clock.now());
  const services = countServices(cloud);
  const calls = measureCalls();
  const said = countLogs();
  const host = await startHost({
    cloud,
    assembly,
    environment: {
      AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${farSide.dynamodbPort}`,
      RATE_LIMIT_PER_MINUTE: "1000000",
    },
    around: calls.around,
    pollers: POLLERS,
    log: (line) => process.stderr.write(`${JSON.stringify(line)}\n`),
  });
  const customer = new Client({ connectionString: postgres.url });
  await customer.connect();
  const workspace = await createTestWorkspace({
    salesforce: farSide.salesforce,
    postgres: { url: through(postgres.url, farSide.postgresPort), schema: "salesforce" },
  });
  const entries = Array.from({ length: mappings }, (_, at) =>
    entryOf({ object: `Thing${at + 1}__c`, fields: ["Name", "Code__c"], upsertField: "Code__c" }),
  );
  await bridgeAsk(host.baseUrl, workspace)("POST", "/config/import", { version: 1, mappings: entries });
  /** Second by second: the clock waits for the functions that each second calls, and the org's goes with it. */
  const passSeconds = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      child.send({ at: clock.now() + 1000 } satisfies Instant);
      await once(child, "message");
      await clock.advance({ seconds: 1 });
    }
  };
  const take = async (seconds: number): Promise<Used> => ({
    seconds,
    functions: calls.take(),
    units: await unitsOf(child),
    ...services.take(),
    logBytes: said(),
  });
  const pass = async (eachMinute: () => Promise<void>) => {
    await take(0);
    for (let minute = 0; minute < minutes; minute += 1) {
      await eachMinute();
      await passSeconds(60);
    }
    return take(minutes * 60);
  };

  await passSeconds(MINUTES_TO_START * 60);
  calls.begin();
  progress(`${minutes} idle minutes`);
  const idle = await pass(async () => undefined);
  progress("what happens once a day");
  await askForDay(await mappingIds(customer), workspace.id);
  await passSeconds(1);
  const day = await take(24 * 3600);
  progress(`${minutes} busy minutes`);
  const busy = await pass(async () => {
    for (let thing = 1; thing <= mappings; thing += 1) await customer.query(insertInto(`thing${thing}__c`, rows));
  });

  await host.close();
  await customer.end();
  child.disconnect();
  await once(child, "exit");
  await Promise.all([cloud.close(), postgres.close()]);
  rmSync(folder, { recursive: true, force: true });
  return { idle, day, busy };
}

const insertInto = (table: string, rows: number) =>
  `INSERT INTO salesforce.${table} (code__c) SELECT left(gen_random_uuid()::text, 18) FROM generate_series(1, ${rows})`;

function through(url: string, port: number): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}

async function mappingIds(customer: Client): Promise<readonly string[]> {
  const { rows } = await customer.query<{ mapping_id: string }>("SELECT mapping_id FROM salesforce._bridge_state");
  return rows.map(({ mapping_id }) => mapping_id);
}

/** What the minute sweeper asks for once a day. */
async function askForDay(ids: readonly string[], workspaceId: string): Promise<void> {
  const asked = ids.map((mapping_id) => ({ workspace_id: workspaceId, mapping_id }));
  await queue("loads").send(asked.map((one) => ({ message: { ...one, kind: "sweep" } })));
  await queue("provisioning").send(asked.map((one) => ({ message: { ...one, import_id: null, describe: true } })));
}

async function startFarSide(cloud: Cloud, postgresUrl: string, things: number, startsAt: number) {
  const ports = [cloud.endpoints.dynamodb, postgresUrl].map((url) => new URL(url).port);
  const child = fork(join(import.meta.dirname, "far-side.ts"), [...ports, String(things), String(startsAt)]);
  const [farSide] = (await once(child, "message")) as [FarSide];
  return { child, farSide };
}

async function unitsOf(child: ChildProcess): Promise<Units> {
  child.send("units");
  const [units] = (await once(child, "message")) as [Units];
  return units;
}

/** Keeps to itself what functions print; gives its bytes since the last time. */
function countLogs(): () => number {
  let bytes = 0;
  console.log = console.error = (...said: unknown[]) => {
    bytes += Buffer.byteLength(said.join(" ")) + 1;
  };
  return () => {
    const taken = bytes;
    bytes = 0;
    return taken;
  };
}
