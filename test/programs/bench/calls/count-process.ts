import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SQSEvent } from "aws-lambda";
import { Client } from "pg";
import { handler as changeBudget } from "../../../../functions/api/change-budget.ts";
import { handler as makeDoorbell } from "../../../../functions/api/make-doorbell.ts";
import { handler as ring } from "../../../../functions/api/ring.ts";
import { counters, engineReports, mappings, queue, ticks } from "../../../../functions/services/composition.ts";
import { cycleServices } from "../../../../functions/services/cycle-services.ts";
import { schedules, swept } from "../../../../functions/services/provisioning-services.ts";
import { handler as runCycle } from "../../../../functions/workers/run-cycle.ts";
import { createTestClock } from "../../../../lib/local/clock.ts";
import { startPostgres } from "../../../../lib/local/postgres/start-postgres.ts";
import { phaseOf } from "../../../../lib/model/beat.ts";
import type { Share } from "../../../../lib/model/calls/plan.ts";
import type { TickMessage } from "../../../../lib/model/messages.ts";
import { guardConnections } from "../../../../lib/network/guarded-dns.ts";
import { readBudget } from "../../../../lib/settings/budget.ts";
import { fanOut } from "../../../../lib/sync/beat/fan-out.ts";
import { sweep } from "../../../../lib/sync/beat/sweep-minute.ts";
import { call } from "../../../support/clients/call.ts";
import { dataOf } from "../../../support/clients/data-of.ts";
import { signIn } from "../../../support/clients/org-rest.ts";
import { startBridgeCloud } from "../../../support/worlds/bridge-cloud.ts";
import { carryOut, importMappings } from "../../../support/worlds/carry-out.ts";
import { type ConnectedOrg, startConnectedOrg } from "../../../support/worlds/connected-org.ts";
import { createTestWorkspace } from "../../../support/worlds/workspace.ts";
import { orgAsk, queryAll } from "../../ask.ts";
import { answer } from "../apart.ts";

/** One workspace whose calls are counted by the org. */
export interface CountedStory {
  readonly mappings: number;
  /** The workspace's `when_quiet_seconds`. */
  readonly whenQuiet: number | null;
  /** Rows that Salesforce has refused, deletes that are held, and records that could not become rows. */
  readonly hasTrouble: boolean;
  /** Whether the org rings for all of them. */
  readonly hasDoorbells: boolean;
  /** The org's calls a day. */
  readonly limit: number;
  readonly share: Share;
  /** Hours that are lived through; of fewer than 24 what happens once a day is asked for and counted separately. */
  readonly hours: number;
}

/** What the org has counted, and what Bridge forecast and planned. */
export interface Counted {
  readonly callsPerDay: number;
  readonly forecast: number;
  /** Failed changes, held deletes and records that could not become rows, at the end. */
  readonly trouble: { readonly refused: number; readonly held: number; readonly rejected: number };
}

/**
 * This file as a program: one workspace through the whole engine on a clock that is stepped: schedules, fan-out, queues,
 * the worker of cycles, the minute sweep, loads. Its argument is the story as JSON.
 */
export const COUNT_PROGRAM: string = import.meta.filename;
if (import.meta.main) {
  console.log = console.error = () => undefined; // what functions print
  guardConnections(() => null);
  answer(await count(JSON.parse(process.argv[2] ?? "") as CountedStory));
}

async function count(story: CountedStory): Promise<Counted> {
  const folder = mkdtempSync(join(tmpdir(), "bridge-calls-"));
  const clock = createTestClock(new Date());
  const [postgres, cloud, org] = await Promise.all([
    startPostgres({ dataDir: folder }),
    startBridgeCloud({ clock }),
    startConnectedOrg({
      things: story.mappings,
      dailyApiRequests: story.limit,
      controls: true,
      clock: { now: () => new Date(clock.now()), sleep: async () => undefined },
    }),
  ]);
  const customer = new Client({ connectionString: postgres.url });
  await customer.connect();
  const { id, token } = await createTestWorkspace({
    postgres: { url: postgres.url, schema: "salesforce" },
    salesforce: org.connection,
  });
  const asked = { calls_share: story.share.share, most_calls: story.share.most, when_quiet_seconds: story.whenQuiet };
  await call(changeBudget, "change-budget", { path: { workspace_id: id }, token, body: asked });
  const names = Array.from({ length: story.mappings }, (_, at) => `Thing${at + 1}__c`);
  const services = { ...cycleServices(), log: () => undefined, figures: () => undefined };
  const bridge = { delete_limit: "1" };
  await importMappings(
    id,
    names.map((object) => ({ object, fields: ["Name", "Code__c"], bridge, notify: story.hasDoorbells })),
  );
  await carryOut(cloud, services, 4);
  process.env["BASE_URL"] = "https://bridge.example.com";
  const made = await call(makeDoorbell, "make-doorbell", { path: { workspace_id: id }, token });
  const ringAt = ({ pathname }: URL) => {
    const [ring_token = "", workspace_id = ""] = pathname.split("/").toReversed();
    return call(ring, "ring", { path: { workspace_id, ring_token } });
  };
  if (story.hasDoorbells) await ringAt(new URL(dataOf<{ readonly url: string }>(made).url));

  const used = async () => ((await org.control("GET", "/calls")) as { used: number }).used;
  /** To the next beat, whose messages are there then, and what they lead to. */
  const beat = async () => {
    const seconds = clock.now() / 1000;
    const next = Math.floor((seconds - phaseOf(id) + 8) / 10) * 10 + phaseOf(id) + 2;
    await clock.advance({ milliseconds: Math.max(1_000, (next > seconds ? next - seconds : 10) * 1000) });
    await fanOut({ cycles: queue("cycles"), ticks: ticks(), clock }, (await cloud.take("fanOut")) as TickMessage[]);
    for (let again = 0; again < 2; again += 1) {
      const Records = (await cloud.take("cycles")).map((message, at) => ({
        messageId: String(at),
        body: JSON.stringify(message),
      }));
      if (Records.length > 0) await runCycle({ Records } as SQSEvent);
    }
  };
  const isWholeDay = story.hours >= 24;
  const queues = { provisioning: queue("provisioning"), loads: queue("loads") };
  const sweeping = {
    mappings: mappings(),
    schedules: schedules(),
    swept: swept(),
    queues,
    clock,
    log: () => undefined,
  };
  const pass = async (minutes: number, sweeps = false) => {
    for (let passed = 1; passed <= minutes; passed += 1) {
      for (let beats = 0; beats < 6; beats += 1) await beat();
      if (sweeps) await sweep(sweeping);
      await carryOut(cloud, services, 4);
    }
  };

  await pass(2);
  if (story.hasTrouble) await makeTrouble(customer, org, () => pass(1));
  // The late lanes look back a quarter of an hour, and ask again for what changed in it and is no row.
  await pass(20);
  const before = await used();
  await pass(story.hours * 60, isWholeDay);
  const lived = (await used()) - before;
  if (!isWholeDay) await askForDay(id);
  const atNight = await used();
  await carryOut(cloud, services, 4);
  const daily = isWholeDay ? 0 : (await used()) - atNight;

  const needs = { mappings: mappings(), engine: engineReports(), counters: counters() };
  const budget = await readBudget(needs, id, new Date(clock.now()), null);
  const [trouble] = (
    await customer.query<Counted["trouble"]>(
      `SELECT (SELECT count(*)::int FROM salesforce._trigger_log WHERE state = 'FAILED') AS refused,
         (SELECT count(*)::int FROM salesforce._trigger_log WHERE state = 'NEW' AND action = 'DELETE') AS held,
         (SELECT count(*)::int FROM salesforce._bridge_inbound_errors) AS rejected`,
    )
  ).rows;
  await Promise.all([customer.end(), org.close(), cloud.close()]);
  await postgres.close();
  rmSync(folder, { recursive: true, force: true });
  return {
    callsPerDay: Math.round((lived * 24) / story.hours) + daily,
    forecast: budget.forecast_calls_per_day,
    trouble: trouble ?? { refused: 0, held: 0, rejected: 0 },
  };
}

/** What the minute sweep asks for once a day: a comparison of both sides, and a describe of the object. */
async function askForDay(workspaceId: string): Promise<void> {
  const all = (await mappings().list(workspaceId)).mappings;
  const asked = all.map(({ id }) => ({ workspace_id: workspaceId, mapping_id: id }));
  await queue("loads").send(asked.map((one) => ({ message: { ...one, kind: "sweep" } })));
  await queue("provisioning").send(asked.map((one) => ({ message: { ...one, import_id: null, describe: true } })));
}

/** Rows that Salesforce refuses, deletes that are held, and a record that cannot become a row. */
async function makeTrouble(
  customer: Client,
  { connection: { loginUrl, credentials } }: ConnectedOrg,
  pass: () => Promise<void>,
): Promise<void> {
  if (credentials.kind !== "password") throw new Error("the org of a test is connected by password");
  await customer.query(
    "INSERT INTO salesforce.thing1__c (name, code__c) SELECT 'row', 'c' || n FROM generate_series(1, 40) n",
  );
  await customer.query("INSERT INTO salesforce.thing2__c (name, code__c) VALUES ('wide', 'w')");
  await pass();
  // Of Thing1 three twins of what is there, and most rows go.
  await customer.query(
    "INSERT INTO salesforce.thing1__c (name, code__c) SELECT 'twin', 'c' || n FROM generate_series(1, 3) n",
  );
  await pass();
  await customer.query("DELETE FROM salesforce.thing1__c WHERE name = 'row'");
  await customer.query("ALTER TABLE salesforce.thing2__c ADD CHECK (name <> 'narrow') NOT VALID");
  const askOrg = orgAsk(loginUrl, await signIn(loginUrl, credentials));
  const [record] = await queryAll<{ Id: string }>(askOrg, "SELECT Id FROM Thing2__c");
  await askOrg("PATCH", `/sobjects/Thing2__c/${record?.Id}`, { Name: "narrow" });
  await pass();
}
