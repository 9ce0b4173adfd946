import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { createDice } from "../../../support/doubles/dice.ts";
import { startReceiver } from "../../../support/doubles/receiver.ts";
import { moving, openApplication, PROOF_SCHEMA, watching } from "./application.ts";
import { meetColleagues } from "./colleagues.ts";
import { countsOf, totalOf } from "./counts.ts";
import { createDoorbell } from "./doorbell.ts";
import type { Calls } from "./judge/evidence.ts";
import { type Finding, judge } from "./judge/judge.ts";
import { lanes, operate } from "./lanes.ts";
import { documentOf, mappingsToProve } from "./mapped-objects.ts";
import { hireMigrator } from "./migrator.ts";
import { settleByHand } from "./operator.ts";
import { planOf, pointsOf } from "./plan.ts";
import { createQueries } from "./queries.ts";
import { queryOnce } from "./query-once.ts";
import { lateReports, readCalls, readEvidence } from "./read-evidence.ts";
import { createRestorer } from "./restorer.ts";
import type { Asked, Run } from "./run.ts";
import { fallSilent } from "./silence.ts";
import { createParts } from "./stage/parts.ts";
import { openStage } from "./stage/stage.ts";
import { causeTrouble, type Incident } from "./trouble.ts";

/** The result. */
export type Proof = Awaited<ReturnType<typeof runProof>>;

export async function runProof(asked: Asked) {
  const began = Date.now();
  const { seed, restores } = asked;
  const mappings = mappingsToProve(asked.mappings);
  const trouble = causeTrouble(createDice(seed + 1));
  const stage = await openStage(trouble.gate, mappings, restores > 0 ? 4 : 12);
  const receiver = await startReceiver(200);
  const application = openApplication(stage.databaseUrl, mappings);
  const queries = createQueries(stage);
  const parts = createParts(stage);
  const run: Run = {
    ...{ asked, dice: createDice(seed), stage, queries, trouble, mappings, receiver, application, parts },
    doorbell: createDoorbell({ stage, queries, mappings, trouble }),
    migrator: hireMigrator({ stage, application, mappings }),
    colleagues: meetColleagues(stage.org, mappings),
    restorer: createRestorer({ ...asked, stage, queries, application, parts, trouble }),
  };
  try {
    const quiet = await provePeace(run);
    const loud = await proveTrouble(run);
    const incidents = incidentsOf(run);
    const placesOf = (way: "kill" | "stop") => incidents.flatMap(({ how, where }) => (how === way ? [where] : []));
    return {
      seed,
      seconds: Math.round((Date.now() - began) / 1000),
      changes: { application: application.changes(), colleagues: run.colleagues.deeds.length },
      /** Of functions by point, and of the other parts by name. */
      kills: countsOf(placesOf("kill")),
      stops: countsOf(placesOf("stop")),
      calls: quiet.calls,
      /** Rings and nudges by what happened to them, and the wake-ups that they caused. */
      doorbells: run.doorbell.figures(),
      /** The application's own migrations, by kind. */
      migrations: countsOf(run.migrator.done),
      /** Saves that were stopped between check and send, and cycles that said that theirs came after the lease was lost. */
      heldSaves: stage.wire.ledger.writes.filter(({ wasHeld }) => wasHeld).length,
      lateSavesReported: lateReports(stage).length,
      /** Rows whose insert ended in doubt, and that the operator gave their record, as the error says. */
      settledByHand: loud.settledByHand,
      /** Changes of the application that restores took away, by what was restored. */
      restored: run.restorer.restored.map(({ what, undone, decided }) => ({
        ...{ what, undone: undone.length, decided: decided.length },
      })),
      findings: [...quiet.findings, ...loud.findings],
    };
  } finally {
    await trouble.end();
    await application.close();
    await stage.close();
    await receiver.close();
  }
}

/** Nothing goes wrong: every kind of work is done once, which shows the points, and every call is counted. */
async function provePeace(run: Run): Promise<{ readonly findings: readonly Finding[]; readonly calls: Calls }> {
  const { stage, queries, mappings, asked, dice, receiver } = run;
  await queries.control("PUT", "/calls", { used: 0 });
  await stage.api("POST", "/webhooks", { url: receiver.url, events: ["record.failed"] });
  await stage.api("POST", "/config/import", documentOf(mappings));
  await queries.untilLoaded(mappings.length);
  await queries.query(PROOF_SCHEMA);
  await queries.query(watching(mappings));
  if (asked.restores > 0) await queryOnce(stage.superuserUrl, moving(stage.clockFile));
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
  const findings = judge(await readEvidence(run, calls));
  tell(run, findings);
  asked.say(
    `in peace: ${run.trouble.passed.size} points, ${run.application.changes()} and ${run.colleagues.deeds.length} changes, ${findings.length} findings`,
  );
  return { findings, calls };
}

/** What a cycle has called it books at its end, so that for a moment the books differ; if they never agree, they are wrong. */
async function untilCallsAgree(run: Run): Promise<Calls> {
  for (let attempt = 1; ; attempt++) {
    const calls = await readCalls(run, true);
    const { engine, wire, org } = calls;
    const agree = totalOf(engine) === org && isDeepStrictEqual(engine, wire);
    if (agree || attempt === 120) return calls;
    await pause(500);
  }
}

/** Everything goes wrong, at every point and at random moments; then it is left in peace until nothing waits any more. */
async function proveTrouble(
  run: Run,
): Promise<{ readonly findings: readonly Finding[]; readonly settledByHand: number }> {
  const { trouble, asked, restorer } = run;
  const { minutes, kills, beyond } = LEAST[asked.extent];
  const before = new Map(trouble.passed);
  trouble.arm(planOf(asked), run.parts, pointsOf(run));
  const until = Date.now() + minutes * 60_000;
  const latest = until + beyond * 60_000;
  const changes = () => run.application.changes() + run.colleagues.deeds.length;
  const killed = () => incidentsOf(run).filter(({ how }) => how === "kill").length;
  const hasEnough = () => changes() >= LEAST_CHANGES && killed() >= kills;
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
  asked.say(`in trouble: ${killed()} kills, ${changes()} changes, ${left.length} incidents left over`);

  await trouble.end();
  await run.parts.settled();
  const { rows: settledByHand, retried } = await drain(run);
  if (asked.restores === 0) await run.doorbell.spoilTheRest((mapping) => run.colleagues.add(mapping, 1));
  const areAlive = asked.restores > 0 || (await fallSilent(run));
  const evidence = await readEvidence(run, await readCalls(run, false), retried);
  const figures = asked.restores > 0 ? {} : run.doorbell.figures();
  const never = Object.entries(figures).flatMap(([kind, times]) => (times === 0 ? [kind] : []));
  const complaints = [
    ...missed.map((one) => ["incident left over", `${one.how} the ${one.whom} ${one.when} ${one.point}`] as const),
    ...[...never, ...(areAlive ? [] : ["alive in the end"])].map((what) => ["doorbells not proved", what] as const),
    ...restorer.complaints,
  ].map(([name, what]) => ({ table: "", tag: "", story: [], name, what }));
  const findings = [...judge(evidence), ...complaints];
  tell(run, findings);
  return { findings, settledByHand };
}

/**
 * The trouble continues until all these are reached, and then for so many minutes until the incidents at points that are
 * passed often are done. A brief proof is part of every run of the tests: it runs for less, and leaves what was not met to
 * the next seed.
 */
const LEAST = {
  brief: { minutes: 0.25, kills: 15, beyond: 0.75 },
  usual: { minutes: 1, kills: 40, beyond: 5 },
  thorough: { minutes: 2, kills: 40, beyond: 5 },
} as const;
const LEAST_CHANGES = 1_000;

/** A point that is passed so often has given every incident its chance; one that is passed less is not waited for. */
const CHANCES = 20;

/** At once, so that an interrupted run still shows what there was. */
function tell({ asked }: Run, findings: readonly Finding[]): void {
  for (const { name, table, tag, what } of findings) asked.say(`${name}: ${table} ${tag} ${what}`);
}

function incidentsOf({ trouble, parts }: Run): readonly { readonly where: string; readonly how: "kill" | "stop" }[] {
  return [
    ...trouble.done
      .filter(({ whom }) => whom === "function")
      .map(({ point, when, how }) => ({ where: point.includes("|") ? `${when} ${point}` : point, how })),
    ...parts.strikes.map(({ whom, how }) => ({ where: whom, how })),
  ];
}

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
