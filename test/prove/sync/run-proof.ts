import { setTimeout as pause } from "node:timers/promises";
import { createDice, type Dice } from "../../support/dice.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { type Application, openApplication, PROOF_SCHEMA, watching } from "./application.ts";
import { type Colleagues, meetColleagues } from "./colleagues.ts";
import { createDesk, type Desk } from "./desk.ts";
import { faultBy } from "./faults.ts";
import { type Finding, judge } from "./judge.ts";
import { definitionOf, documentOf, mappingsToProve, type Proved, VALUES } from "./mapped-objects.ts";
import { readBooksOfCalls, readEvidence, type Sources } from "./read-evidence.ts";
import { openStage, type Stage } from "./stage.ts";
import { causeTrouble, type Incident, type Trouble } from "./trouble.ts";

/** How much is to be proved. The trouble goes on until all three are reached, and until every point had its incidents. */
export interface Asked {
  readonly seed: number;
  readonly minutes: number;
  readonly kills: number;
  readonly changes: number;
  readonly mappings: number;
  /** Whether every point is killed and stopped at, before and after, instead of killed once. */
  readonly isLong: boolean;
  readonly say: (text: string) => void;
}

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
  /** Saves that were stopped between check and send, and cycles that said that theirs came after the lease was lost. */
  readonly heldSaves: number;
  readonly lateSavesTold: number;
  readonly findings: readonly Finding[];
}

/** The functions that carry changes; the others only answer requests. */
const ENGINE = ["fan-out-cycles", "run-cycle", "load-mapping", "provision-mapping", "dispatch-events"];
const CALLERS = ["run-cycle", "load-mapping", "provision-mapping"];

interface Run {
  readonly asked: Asked;
  readonly dice: Dice;
  readonly stage: Stage;
  readonly desk: Desk;
  readonly trouble: Trouble;
  readonly mappings: readonly Proved[];
  readonly application: Application;
  readonly colleagues: Colleagues;
  readonly receiver: Receiver;
  /** Kills and stops of parts that are no functions. */
  readonly parts: Record<string, { kills: number; stops: number }>;
}

export async function runProof(asked: Asked): Promise<Proof> {
  const began = Date.now();
  const dice = createDice(asked.seed);
  const mappings = mappingsToProve(asked.mappings);
  const trouble = causeTrouble({ dice: createDice(asked.seed + 1), mostStopped: 4, breathMilliseconds: 600 });
  const stage = await openStage({ gate: trouble.gate, definition: definitionOf(mappings), environments: 8 });
  const receiver = await startReceiver(200);
  const run: Run = {
    asked,
    dice,
    stage,
    desk: createDesk(stage),
    trouble,
    mappings,
    receiver,
    application: openApplication({ url: stage.databaseUrl, mappings, rowsAtOnce: 40 }),
    colleagues: meetColleagues({ url: stage.org.url, accessToken: stage.org.accessToken, mappings, recordsAtOnce: 40 }),
    parts: {},
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
      heldSaves: stage.wire.ledger.writes.filter(({ wasHeld }) => wasHeld).length,
      lateSavesTold: stage.notes.filter((line) => line.includes("saves came after the lease was lost")).length,
      findings: [...quiet.findings, ...loud],
    };
  } finally {
    await trouble.end();
    await run.application.close();
    await run.desk.close();
    await stage.close();
    await receiver.close();
  }
}

/** Nothing goes wrong: every kind of work is done once, which shows the points, and every call is counted. */
async function provePeace(
  run: Run,
): Promise<{ readonly findings: readonly Finding[]; readonly calls: Proof["calls"] }> {
  const { stage, desk, mappings, asked, dice, receiver } = run;
  await stage.api("POST", "/webhooks", { url: receiver.url, events: ["record.failed"] });
  await stage.api("POST", "/config/import", documentOf(mappings));
  await desk.untilLoaded(mappings.length);
  await desk.query(PROOF_SCHEMA);
  await desk.query(watching(mappings.map(({ table }) => table)));
  asked.say(`${mappings.length} mappings are provisioned and loaded`);

  const deeds = createDice(dice.below(1_000_000));
  for (let deed = 0; deed < 40; deed++) await Promise.all([run.application.act(deeds), run.colleagues.act(deeds)]);
  await run.application.heap(mappings[0]);
  const ids = await desk.mappingIds();
  await operate(run, createDice(1), ids);
  await desk.cycles(ids);
  await desk.cycles(ids);
  await desk.untilNothingWaits();
  await untilCallsAgree(run);
  const evidence = await readEvidence(sourcesOf(run, true));
  const findings = judge(evidence);
  tell(run, findings);
  const { engine, wire, org } = evidence.calls;
  asked.say(
    `in peace: ${run.trouble.passed.size} points, ${run.application.changes()} and ${run.colleagues.deeds.length} changes, ${findings.length} findings`,
  );
  return { findings, calls: { engine, wire, org } };
}

/** What a cycle has called it books at its end, so that for a moment the books differ; if they never agree, they are wrong. */
async function untilCallsAgree(run: Run): Promise<void> {
  for (let attempt = 1; attempt <= 40; attempt++) {
    const { engine, wire, org } = await readBooksOfCalls(sourcesOf(run, true));
    const sum = Object.values(engine).reduce((all, one) => all + one, 0);
    if (sum === org && JSON.stringify(sorted(engine)) === JSON.stringify(sorted(wire))) return;
    await pause(500);
  }
}

const sorted = (counts: Readonly<Record<string, number>>) => Object.entries(counts).sort();

/** Every operator's action that starts work of its own. */
async function operate(run: Run, dice: Dice, ids: ReadonlyMap<string, string>): Promise<void> {
  const { stage, mappings } = run;
  const idOf = () => ids.get(dice.pick(mappings)?.object ?? "") ?? "";
  await stage.api("POST", `/mappings/${idOf()}/reload`);
  const paused = idOf();
  await stage.api("POST", `/mappings/${paused}/deactivate`);
  await stage.api("POST", `/mappings/${paused}/activate`);
  const changed = dice.pick(mappings);
  if (changed) await stage.api("POST", "/config/import", documentOf([changed], dice.isUnder(0.5) ? ["Later__c"] : []));
  await stage.api("POST", `/mappings/${idOf()}/abort`);
  stage.send("loads", { workspace_id: stage.workspaceId, mapping_id: idOf(), kind: "sweep" });
}

/** Everything goes wrong, at every point and at random moments; then it is left in peace until nothing waits any more. */
async function proveTrouble(run: Run): Promise<readonly Finding[]> {
  const { trouble, asked } = run;
  const plan = planOf(run);
  trouble.arm(plan);
  const until = Date.now() + asked.minutes * 60_000;
  const latest = Date.now() + Math.max(asked.minutes * 4, 4) * 60_000;
  const changes = () => run.application.changes() + run.colleagues.deeds.length;
  const isOver = () =>
    (Date.now() > until && changes() >= asked.changes && killsOf(run) >= asked.kills && trouble.armed() === 0) ||
    (Date.now() > latest && asked.kills <= killsOf(run) && changes() >= asked.changes);
  await Promise.all([...lanes(run, isOver)]);
  asked.say(`in trouble: ${killsOf(run)} kills, ${changes()} changes, ${trouble.armed()} incidents left over`);
  const missed = plan.filter(
    (one) => !trouble.done.some((did) => did.point === one.point && did.when === one.when && did.how === one.how),
  );

  await trouble.end();
  await drain(run);
  const evidence = await readEvidence(sourcesOf(run, false));
  const complaints = missed.map(({ point, when, how }) => ({
    name: "point never reached",
    table: "",
    tag: "",
    what: `no ${how} ${when} ${point}`,
    story: [],
  }));
  const findings = [...judge(evidence), ...complaints];
  tell(run, findings);
  return findings;
}

/** At once, because whoever runs out of patience wants to know what there was. */
function tell({ asked }: Run, findings: readonly Finding[]): void {
  for (const { name, table, tag, what } of findings) asked.say(`${name}: ${table} ${tag} ${what}`);
}

/** At these, a stop is worth most: between a check and what follows it. */
const WORTH_A_STOP = /salesforce: (create|update|upsert|delete)|commit of (results|a page|a claim)|mark as sent/;

/**
 * Every point that peace has shown more than once (what is made once in a workspace's life has no second chance): in the
 * long form killed and stopped, before and after; in the short form killed, before or after as the seed says.
 */
function planOf({ trouble, asked }: Run): Incident[] {
  const dice = createDice(asked.seed + 2);
  const points = [...trouble.passed].filter(([, times]) => times > 1).map(([point]) => point);
  const plan = points
    .filter((point) => ENGINE.some((worker) => point.startsWith(`${worker} |`)))
    .sort()
    .flatMap((point): Incident[] => {
      const both = [{ point, when: "before" } as const, { point, when: "after" } as const];
      if (asked.isLong)
        return both.flatMap((one) => [
          { ...one, how: "kill" },
          { ...one, how: "stop" },
        ]);
      const one = both[dice.below(2)] ?? both[0];
      const held = point.includes("salesforce:") ? both[0] : (both[dice.below(2)] ?? both[0]);
      return [
        { ...one, how: "kill" },
        ...(WORTH_A_STOP.test(point) ? [{ ...held, how: "stop" } as const] : []),
      ] as Incident[];
    });
  return shuffled(plan, dice);
}

function shuffled<Item>(items: readonly Item[], dice: Dice): Item[] {
  return items
    .map((item) => ({ item, at: dice.roll() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

const killsOf = ({ trouble, parts }: Run) =>
  trouble.done.filter(({ how }) => how === "kill").length +
  Object.values(parts).reduce((all, { kills }) => all + kills, 0);

/** What goes on side by side: users of both sides, messages, operators, faults, kills of parts and at random moments. */
function* lanes(run: Run, isOver: () => boolean): Generator<Promise<void>> {
  const { asked, stage, application, colleagues, desk } = run;
  const lane = async (
    number: number,
    everyMilliseconds: number,
    step: (dice: Dice) => Promise<unknown> | undefined,
  ) => {
    const dice = createDice(asked.seed * 100 + number);
    while (!isOver()) {
      await step(dice);
      await pause(dice.below(everyMilliseconds * 2));
    }
  };
  const ids = desk.mappingIds();
  const anyId = async (dice: Dice) => dice.pick([...(await ids).values()]) ?? "";
  for (let user = 1; user <= 3; user++) yield lane(user, 150, (dice) => application.act(dice));
  for (let user = 4; user <= 5; user++) yield lane(user, 250, (dice) => colleagues.act(dice).catch(() => undefined));
  yield lane(10, 300, async (dice) => {
    const message = {
      workspace_id: stage.workspaceId,
      mapping_id: await anyId(dice),
      kind: dice.pick(["poll", "pull"]),
      slot: null,
    };
    for (let copies = dice.isUnder(0.2) ? 2 : 1; copies > 0; copies--)
      stage.send("cycles", message, dice.below(4) * dice.below(10));
  });
  yield lane(11, 3_000, async (dice) => operate(run, dice, await ids).catch(() => undefined));
  yield lane(15, 60_000, (dice) => application.heap(dice.pick(run.mappings)));
  yield lane(12, 700, (dice) => desk.control("POST", "/faults", faultBy(dice)).catch(() => undefined));
  yield lane(13, 4_000, async (dice) => {
    const caller = dice.pick(stage.wire.callers().filter(({ worker }) => ENGINE.includes(worker)));
    if (caller) run.trouble.strike(caller, dice.isUnder(0.7) ? "kill" : "stop");
  });
  yield lane(14, 15_000, async (dice) => {
    await pause(5_000);
    await strikePart(run, dice);
  });
}

async function strikePart({ stage, parts }: Run, dice: Dice): Promise<void> {
  const strikes: readonly (readonly [string, "kills" | "stops", () => Promise<void>])[] = [
    ["host", "kills", () => stage.killHost()],
    ["PostgreSQL", "kills", () => stage.killPostgres()],
    ["Salesforce", "kills", () => stage.killOrg()],
    ["PostgreSQL", "stops", () => stage.stopPostgres(17_000)],
    ["Salesforce", "stops", () => stage.stopOrg(17_000)],
  ];
  const strike = dice.pick(strikes);
  if (!strike) return;
  const [part, how, carryOut] = strike;
  parts[part] ??= { kills: 0, stops: 0 };
  parts[part][how] += 1;
  await carryOut();
}

/** A doubt's eleven minutes, the lanes of every five minutes, several times over, and a lock's longest wait. */
const STEPS_SECONDS = [0, 400, 400, 1_000, 400];

/** No more trouble, and as much time as everything that waits may need. */
async function drain({ stage, desk, asked, mappings }: Run): Promise<void> {
  await desk.control("DELETE", "/faults");
  await pause(1000);
  const ids = await desk.mappingIds();
  for (const id of ids.values()) await stage.api("POST", `/mappings/${id}/activate`);
  await desk.untilLoaded(mappings.length);
  for (const seconds of STEPS_SECONDS) {
    stage.clock.advance(seconds);
    await desk.cycles(ids);
  }
  await desk.untilNothingWaits();
  await desk.cycles(ids);
  asked.say("drained");
}

function sourcesOf({ stage, mappings, colleagues, receiver }: Run, isQuiet: boolean): Sources {
  const { writes, ...ledger } = stage.wire.ledger;
  const calls = isQuiet ? ledger.calls : ledger.sent;
  const by = (isCaller: (worker: string) => boolean) => {
    const sum: Record<string, number> = {};
    for (const [worker, counts] of Object.entries(calls)) {
      if (!isCaller(worker)) continue;
      for (const [label, count] of Object.entries(counts)) sum[label] = (sum[label] ?? 0) + count;
    }
    return sum;
  };
  const others = Object.values(by((worker) => !CALLERS.includes(worker))).reduce((all, one) => all + one, 0);
  return {
    databaseUrl: stage.databaseUrl,
    orgUrl: stage.org.url,
    accessToken: stage.org.accessToken,
    objects: mappings.map(({ object }) => object),
    columns: VALUES,
    colleagues: colleagues.deeds,
    writes,
    heard: receiver.received.map(({ body }) => heardIn(body)),
    wireCalls: by((worker) => CALLERS.includes(worker)),
    colleaguesCalls: colleagues.calls() + others,
    isQuiet,
  };
}

function heardIn(body: string): { eventId: string; logId: number | null } {
  const { id, data } = JSON.parse(body) as { id: string; data: { trigger_log_id?: number } };
  return { eventId: id, logId: data.trigger_log_id ?? null };
}

function incidentsOf({ trouble, parts }: Run): Proof["incidents"] {
  const counts: Record<string, { kills: number; stops: number }> = {};
  for (const { point, when, how } of trouble.done) {
    const key = point.includes("|") ? `${when} ${point}` : point;
    counts[key] ??= { kills: 0, stops: 0 };
    counts[key][how === "kill" ? "kills" : "stops"] += 1;
  }
  return { ...counts, ...parts };
}
