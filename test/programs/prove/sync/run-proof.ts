import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { createDice } from "../../../support/doubles/dice.ts";
import { startReceiver } from "../../../support/doubles/receiver.ts";
import { moving, openApplication, PROOF_SCHEMA, watching } from "./application.ts";
import { meetColleagues } from "./colleagues.ts";
import { createDoorbell } from "./doorbell.ts";
import type { Calls } from "./judge/evidence.ts";
import { type Finding, judge } from "./judge/judge.ts";
import { lanes, operate } from "./lanes.ts";
import { definitionOf, documentOf, mappingsToProve } from "./mapped-objects.ts";
import { hireMigrator } from "./migrator.ts";
import { settleByHand } from "./operator.ts";
import { planOf, pointsOf } from "./plan.ts";
import { createQueries } from "./queries.ts";
import { readBooksOfCalls, readEvidence } from "./read-evidence.ts";
import { createRestorer } from "./restorer.ts";
import type { Asked, Run } from "./run.ts";
import { fallSilent } from "./silence.ts";
import { lateReports, sourcesOf } from "./sources.ts";
import { createParts } from "./stage/parts.ts";
import { openStage } from "./stage/stage.ts";
import { causeTrouble, type Incident } from "./trouble.ts";

/** The result. */
export interface Proof {
  readonly seed: number;
  readonly seconds: number;
  readonly changes: { readonly application: number; readonly colleagues: number };
  /** Kills and stops of functions by point, and of the other parts by name. */
  readonly incidents: Readonly<Record<string, { readonly kills: number; readonly stops: number }>>;
  readonly calls: {
    readonly engine: Readonly<Record<string, number>>;
    readonly wire: Readonly<Record<string, number>>;
    readonly org: number;
  };
  /** Rings and nudges by what happened to them, and the wake-ups that they caused. */
  readonly doorbells: Readonly<Record<string, number>>;
  /** The application's own migrations, by kind. */
  readonly migrations: Readonly<Record<string, number>>;
  /** Saves that were stopped between check and send, and cycles that said that theirs came after the lease was lost. */
  readonly heldSaves: number;
  readonly lateSavesReported: number;
  /** Rows whose insert ended in doubt, and that the operator gave their record, as the error says. */
  readonly settledByHand: number;
  /** Changes of the application that restores took away, by what was restored. */
  readonly restored: readonly { readonly what: string; readonly undone: number; readonly decided: number }[];
  readonly findings: readonly Finding[];
}

export async function runProof(asked: Asked): Promise<Proof> {
  const began = Date.now();
  const dice = createDice(asked.seed);
  const mappings = mappingsToProve(asked.mappings);
  const trouble = causeTrouble({ dice: createDice(asked.seed + 1), mostStopped: 8, breathMilliseconds: 600 });
  const objects = mappings.map(({ object }) => object);
  const stage = await openStage({
    gate: trouble.gate,
    definition: definitionOf(mappings),
    objects,
    environments: asked.restores > 0 ? 4 : 12,
  });
  const receiver = await startReceiver(200);
  const application = openApplication({ url: stage.databaseUrl, mappings, rowsAtOnce: 40 });
  const queries = createQueries(stage);
  const parts = createParts(stage);
  const run: Run = {
    asked,
    dice,
    stage,
    queries,
    trouble,
    mappings,
    doorbell: createDoorbell({ stage, queries, mappings, trouble }),
    receiver,
    application,
    migrator: hireMigrator({ stage, application, mappings }),
    colleagues: meetColleagues({ url: stage.org.url, accessToken: stage.org.accessToken, mappings, recordsAtOnce: 40 }),
    parts,
    restorer: createRestorer({ ...asked, stage, queries, application, parts, trouble }),
  };
  try {
    const quiet = await provePeace(run);
    const loud = await proveTrouble(run);
    return {
      seed: asked.seed,
      seconds: Math.round((Date.now() - began) / 1000),
      changes: { application: run.application.changes(), colleagues: run.colleagues.deeds.length },
      incidents: incidentsOf(run),
      calls: quiet.calls,
      doorbells: run.doorbell.figures(),
      migrations: Object.fromEntries(run.migrator.done),
      heldSaves: stage.wire.ledger.writes.filter(({ wasHeld }) => wasHeld).length,
      lateSavesReported: lateReports(stage).length,
      settledByHand: loud.settledByHand,
      restored: run.restorer.restored.map(({ what, undone, decided }) => ({
        ...{ what, undone: undone.length, decided: decided.length },
      })),
      findings: [...quiet.findings, ...loud.findings],
    };
  } finally {
    await trouble.end();
    await run.application.close();
    await run.queries.close();
    await stage.close();
    await receiver.close();
  }
}

/** Nothing goes wrong: every kind of work is done once, which shows the points, and every call is counted. */
async function provePeace(
  run: Run,
): Promise<{ readonly findings: readonly Finding[]; readonly calls: Proof["calls"] }> {
  const { stage, queries, mappings, asked, dice, receiver } = run;
  await queries.control("PUT", "/calls", { used: 0 });
  await stage.api("POST", "/webhooks", { url: receiver.url, events: ["record.failed"] });
  await stage.api("POST", "/config/import", documentOf(mappings));
  await queries.untilLoaded(mappings.length);
  await queries.query(PROOF_SCHEMA);
  await queries.query(watching(mappings));
  if (asked.restores > 0) await asSuperuser(stage, moving(stage.clockFile));
  await run.doorbell.hang();
  asked.say(`${mappings.length} mappings are provisioned and loaded`);

  const deeds = createDice(dice.below(1_000_000));
  for (let deed = 0; deed < 40; deed++) await Promise.all([run.application.act(deeds), run.colleagues.act(deeds)]);
  if (asked.restores === 0) await run.application.heap(mappings[0]);
  const ids = await queries.mappingIds();
  await operate(run, createDice(1), ids);
  await queries.cycles(ids);
  await queries.cycles(ids);
  await queries.untilNothingWaits();
  const calls = await untilCallsAgree(run);
  // Beats continue while the evidence is read, so the books that are judged are those of one moment.
  const evidence = { ...(await readEvidence(sourcesOf(run, true))), calls };
  const findings = judge(evidence);
  tell(run, findings);
  const { engine, wire, org } = evidence.calls;
  asked.say(
    `in peace: ${run.trouble.passed.size} points, ${run.application.changes()} and ${run.colleagues.deeds.length} changes, ${findings.length} findings`,
  );
  return { findings, calls: { engine, wire, org } };
}

async function asSuperuser({ superuserUrl }: Run["stage"], text: string): Promise<void> {
  const client = new Client({ connectionString: superuserUrl });
  await client.connect();
  await client.query(text).finally(() => client.end());
}

/** What a cycle has called it books at its end, so that for a moment the books differ; if they never agree, they are wrong. */
async function untilCallsAgree(run: Run): Promise<Calls> {
  for (let attempt = 1; ; attempt++) {
    const calls = await readBooksOfCalls(sourcesOf(run, true));
    const { engine, wire, org } = calls;
    const sum = Object.values(engine).reduce((all, one) => all + one, 0);
    const agree = sum === org && JSON.stringify(sorted(engine)) === JSON.stringify(sorted(wire));
    if (agree || attempt === 120) return calls;
    await pause(500);
  }
}

const sorted = (counts: Readonly<Record<string, number>>) => Object.entries(counts).sort();

/** Everything goes wrong, at every point and at random moments; then it is left in peace until nothing waits any more. */
async function proveTrouble(
  run: Run,
): Promise<{ readonly findings: readonly Finding[]; readonly settledByHand: number }> {
  const { trouble, asked, restorer } = run;
  const before = new Map(trouble.passed);
  trouble.arm(planOf(run), pointsOf(run));
  const until = Date.now() + asked.minutes * 60_000;
  const latest = until + (asked.extent === "brief" ? BRIEF_MILLISECONDS : MOST_MILLISECONDS);
  const changes = () => run.application.changes() + run.colleagues.deeds.length;
  const hasEnough = () => changes() >= asked.changes && killsOf(run) >= asked.kills;
  const timesOf = ({ point }: Incident) => (trouble.passed.get(point) ?? 0) - (before.get(point) ?? 0);
  const isComing = (incident: Incident) => timesOf(incident) >= CHANCES / 2;
  let over = false;
  const isOver = () => {
    if (asked.restores > 0) return restorer.done() >= asked.restores;
    over ||= Date.now() > until && hasEnough() && (Date.now() > latest || !trouble.armed().some(isComing));
    return over;
  };
  await Promise.all([...lanes(run, isOver)]);
  const left = [...trouble.armed()];
  const isCutShort = asked.extent === "brief" && Date.now() > latest;
  const missed = isCutShort || asked.restores > 0 ? [] : left.filter((incident) => timesOf(incident) >= CHANCES);
  asked.say(`in trouble: ${killsOf(run)} kills, ${changes()} changes, ${left.length} incidents left over`);

  await trouble.end();
  await run.parts.settled();
  const { rows: settledByHand, retried } = await drain(run);
  if (asked.restores === 0) await run.doorbell.spoilTheRest((mapping) => run.colleagues.add(mapping, 1));
  const areAlive = asked.restores > 0 || (await fallSilent(run));
  const evidence = await readEvidence(sourcesOf(run, false, retried));
  const nothing = { table: "", tag: "", story: [] };
  const figures = asked.restores > 0 ? {} : run.doorbell.figures();
  const never = Object.entries(figures).flatMap(([kind, times]) => (times === 0 ? [kind] : []));
  const complaints = [
    ...missed.map(({ point, when, how, whom }) => ({
      ...nothing,
      name: "incident left over",
      what: `no ${how} of the ${whom} ${when} ${point}`,
    })),
    ...[...never, ...(areAlive ? [] : ["alive in the end"])].map((what) => ({
      ...nothing,
      name: "doorbells not proved",
      what: `never: ${what}`,
    })),
    ...restorer.complaints.map((one) => ({ ...nothing, ...one })),
  ];
  const findings = [...judge(evidence), ...complaints];
  tell(run, findings);
  return { findings, settledByHand };
}

/** Trouble continues so long beyond what was asked for, if the incidents at points that are passed often are not done. */
const MOST_MILLISECONDS = 5 * 60_000;

/** A brief proof is part of every run of the tests: it runs for less, and leaves what was not met to the next seed. */
const BRIEF_MILLISECONDS = 45_000;

/** A point that is passed so often has given every incident its chance; one that is passed less is not waited for. */
const CHANCES = 20;

/** At once, so that an interrupted run still shows what there was. */
function tell({ asked }: Run, findings: readonly Finding[]): void {
  for (const { name, table, tag, what } of findings) asked.say(`${name}: ${table} ${tag} ${what}`);
}

const killsOf = ({ trouble, parts }: Run) =>
  trouble.done.filter(({ how, whom }) => how === "kill" && whom === "function").length +
  Object.values(parts.done).reduce((all, { kills }) => all + kills, 0);

/** The eleven minutes of an insert in doubt, the lanes of every five minutes, several times over, and a lock's longest wait. */
const STEPS_SECONDS = [0, 400, 400, 1_000, 400];

/** A record that could have been an insert in doubt when a person decided is read again after five minutes. */
const READ_AGAIN_SECONDS = 400;

/** No more trouble, and as much time as everything that waits may need. */
async function drain(run: Run): ReturnType<typeof settleByHand> {
  const { stage, queries, asked, mappings } = run;
  stage.door.spoil(null);
  await queries.control("DELETE", "/faults");
  await queries.control("PUT", "/mode", { readOnly: false });
  await pause(1000);
  const ids = await queries.mappingIds();
  for (const id of ids.values()) await stage.api("POST", `/mappings/${id}/activate`);
  await queries.untilLoaded(mappings.length, "lost");
  asked.say("all is loaded again");
  for (const seconds of STEPS_SECONDS) {
    stage.clock.advance(seconds);
    await queries.cycles(ids);
  }
  await run.restorer.settle();
  await queries.untilNothingWaits();
  stage.clock.advance(READ_AGAIN_SECONDS);
  await queries.cycles(ids);
  const byHand = await settleByHand(run);
  if (byHand.rows > 0) {
    await queries.cycles(ids);
    await queries.untilNothingWaits();
  }
  await queries.cycles(ids);
  asked.say(`drained, ${byHand.rows} rows settled by hand`);
  return byHand;
}

function incidentsOf({ trouble, parts }: Run): Proof["incidents"] {
  const counts: Record<string, { kills: number; stops: number }> = {};
  for (const { point, when, how } of trouble.done.filter(({ whom }) => whom === "function")) {
    const key = point.includes("|") ? `${when} ${point}` : point;
    counts[key] ??= { kills: 0, stops: 0 };
    counts[key][how === "kill" ? "kills" : "stops"] += 1;
  }
  return { ...counts, ...parts.done };
}
