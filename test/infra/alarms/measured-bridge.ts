import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { METRICS_NAMESPACE } from "../../../lib/infra/grant-access.ts";
import { assemble } from "../../../lib/local/assemble.ts";
import { createTestClock, type TestClock } from "../../../lib/local/clock.ts";
import type { Failed, Invocation, Runner } from "../../../lib/local/cloud/lambda/invocation.ts";
import { type Host, startHost } from "../../../lib/local/cloud/lambda/start-host.ts";
import { type Cloud, startCloud } from "../../../lib/local/cloud/start-cloud.ts";
import { type ConnectedOrg, startConnectedOrg } from "../../support/worlds/connected-org.ts";
import { createTestDatabase, type TestDatabase } from "../../support/worlds/postgres.ts";
import { createTestWorkspace } from "../../support/worlds/workspace.ts";
import type { Sample } from "./read-alarm.ts";

/** A customer: a workspace with one mapping, whose database and org are its own. */
export interface Customer {
  readonly workspaceId: string;
  readonly database: TestDatabase;
  readonly org: ConnectedOrg;
}

/** The deployed bundles on a clock that is moved by hand, and what CloudWatch would measure of them. */
export interface MeasuredBridge {
  readonly cloud: Cloud;
  /** A customer more, whose mapping is active. */
  addCustomer(): Promise<Customer>;
  /** Everything measured so far. */
  readonly samples: readonly Sample[];
  /** Minutes that have passed. */
  readonly minute: number;
  pass(minutes: number): Promise<void>;
  /** Makes calls of functions end as they do when the function dies; the answer ends that. */
  kill(isKilled: (functionName: string, event: string) => boolean): () => void;
  /** What Bridge writes for CloudWatch gets lost; the answer ends that. */
  dropFigures(): () => void;
  close(): Promise<void>;
}

const DIES: Failed = { kind: "failed", errorType: "Runtime.ExitError", message: "signal: killed", trace: [] };

export async function startMeasuredBridge(): Promise<MeasuredBridge> {
  const folder = mkdtempSync(join(tmpdir(), "bridge-outages-"));
  const clock = createTestClock(new Date());
  const assembly = await assemble();
  const cloud = await startCloud({ dataDir: join(folder, "cloud"), clock, sweepsExpiredItems: false });
  const measuring = measure(clock, join(folder, "cloud", "sqs.sqlite"));
  const environment = { RATE_LIMIT_PER_MINUTE: "1000000" };
  const host = await startHost({ cloud, assembly, environment, around: measuring.around, log: () => undefined });
  process.env["METRICS_NAMESPACE"] = METRICS_NAMESPACE;
  const customers: Customer[] = [];
  return {
    cloud,
    addCustomer: async () => {
      const customer = await startCustomer(host, clock);
      customers.push(customer);
      return customer;
    },
    ...measuring,
    get minute() {
      return measuring.minute;
    },
    pass: async (minutes) => {
      for (let minute = 0; minute < minutes; minute += 1) {
        await clock.advance({ minutes: 1 });
        measuring.take();
      }
    },
    close: async () => {
      measuring.end();
      await host.close();
      delete process.env["METRICS_NAMESPACE"];
      Reflect.deleteProperty(globalThis, Symbol.for("bridge.now"));
      for (const { database, org } of customers) await Promise.all([database.close(), org.close()]);
      await cloud.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startCustomer(host: Host, clock: TestClock): Promise<Customer> {
  const time = { now: () => new Date(clock.now()), sleep: async () => undefined };
  const [database, org] = await Promise.all([
    createTestDatabase(),
    startConnectedOrg({ things: 1, controls: true, clock: time }),
  ]);
  const postgres = { url: database.url, schema: "salesforce" };
  const { id, token } = await createTestWorkspace({ postgres, salesforce: org.connection });
  const config = { access: "read_write", sf_polling_seconds: 10, fields: { Code__c: {} }, upsert_field: "Code__c" };
  const answer = await fetch(`${host.baseUrl}/api/v1/t/${id}/config/import`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ version: 1, mappings: [{ object_name: "Thing1__c", config }] }),
  });
  if (!answer.ok) throw new Error(`the import answered ${answer.status}: ${await answer.text()}`);
  return { workspaceId: id, database, org };
}

/** Measures what AWS would: calls and deaths of functions, age and dead letters of queues; and keeps Bridge's figures. */
function measure(clock: TestClock, queues: string) {
  const samples: Sample[] = [];
  const killers = new Set<(functionName: string, event: string) => boolean>();
  let minute = 0;
  let isDropped = false;
  const add = (namespace: string, name: string, dimensions: Readonly<Record<string, string>>, value: number) =>
    void samples.push({ namespace, name, dimensions, minute, value });
  const around = (runner: Runner): Runner => ({
    ...runner,
    acquire: async (target) => {
      const place = await runner.acquire(target);
      const dimensions = { FunctionName: target.name };
      const run = async (call: Invocation) => {
        add("AWS/Lambda", "Invocations", dimensions, 1);
        const event = JSON.stringify(call.event);
        const dies = [...killers].some((isKilled) => isKilled(target.name, event));
        const outcome = dies ? DIES : await place.run(call);
        if (outcome.kind === "failed") add("AWS/Lambda", "Errors", dimensions, 1);
        return outcome;
      };
      return { ...place, run };
    },
  });
  const write = process.stdout.write;
  process.stdout.write = (chunk: unknown, ...rest: unknown[]) => {
    const line = String(chunk);
    if (!line.startsWith('{"_aws"')) return Reflect.apply(write, process.stdout, [chunk, ...rest]) as boolean;
    const { _aws, Stage, ...figures } = JSON.parse(line) as Readonly<Record<string, number>>;
    if (!isDropped)
      for (const [name, value] of Object.entries(figures))
        add(METRICS_NAMESPACE, name, { Stage: String(Stage) }, value);
    return true;
  };
  const store = new DatabaseSync(queues, { readOnly: true });
  const takeQueues = () => {
    // The age is that of messages which were received three times at most (SQS: poison-pill messages).
    const rows = store
      .prepare(
        `SELECT q.name, min(CASE WHEN m.receive_count <= 3 THEN m.sent_at END) AS oldest,
          sum(m.visible_at <= :now) AS visible
        FROM queues q JOIN messages m ON m.queue_id = q.id GROUP BY q.name`,
      )
      .all({ now: clock.now() });
    for (const { name, oldest, visible } of rows) {
      const dimensions = { QueueName: String(name) };
      const age = oldest === null ? 0 : (clock.now() - Number(oldest)) / 1000;
      add("AWS/SQS", "ApproximateAgeOfOldestMessage", dimensions, age);
      add("AWS/SQS", "ApproximateNumberOfMessagesVisible", dimensions, Number(visible));
    }
  };
  const during = <Thing>(set: Set<Thing>, thing: Thing) => {
    set.add(thing);
    return () => void set.delete(thing);
  };
  return {
    around,
    samples,
    get minute() {
      return minute;
    },
    take: () => {
      takeQueues();
      minute += 1;
    },
    kill: (isKilled: (functionName: string, event: string) => boolean) => during(killers, isKilled),
    dropFigures: () => {
      isDropped = true;
      return () => {
        isDropped = false;
      };
    },
    end: () => {
      process.stdout.write = write;
      store.close();
    },
  };
}
