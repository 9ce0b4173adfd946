import { setTimeout as pause } from "node:timers/promises";
import { createDice, type Dice } from "../../../support/doubles/dice.ts";
import { documentOf } from "./mapped-objects.ts";
import { ENGINE, type Run } from "./run.ts";

/** What the org is ordered to do wrong; each strikes a few times at most. */
const FAULTS: readonly Readonly<Record<string, unknown>>[] = [
  { kind: "saveThenDrop", path: "services/Soap" },
  { kind: "saveThenDrop", path: "services/Soap" },
  { kind: "resetBeforeAnswer", path: "services/(Soap|data)" },
  { kind: "resetInBody", path: "services/(Soap|data)" },
  { kind: "unavailable", path: "services/(Soap|data)" },
  { kind: "serverError", path: "services/(Soap|data)" },
  { kind: "expiredSession", path: "services/(Soap|data)" },
  { kind: "serverError", path: "oauth2/token" },
  { kind: "refusedGrant", path: "oauth2/token" },
  { kind: "concurrentLimit", path: "services/(Soap|data)" },
  { kind: "lockedRow" },
  { kind: "governorLimit", size: 5 },
  { kind: "failedJob", path: "BULK" },
  { kind: "abortedJob", path: "BULK" },
  { kind: "heldCommit", milliseconds: 8_000 },
  { kind: "heldCommit", milliseconds: 25_000 },
];

/** So often a lane that pauses looks whether all is over. */
const LOOK_MILLISECONDS = 500;

/** How much slower all of it is beside restores, which take long. */
const CALM = 4;

/** What runs side by side: users of both sides, messages, rings, operators, faults, kills of parts and at random moments. */
export function* lanes(run: Run, isOver: () => boolean): Generator<Promise<void>> {
  const { asked, stage, application, colleagues, queries, doorbell } = run;
  const lane = async (
    number: number,
    everyMilliseconds: number,
    step: (dice: Dice) => Promise<unknown> | undefined,
  ) => {
    const dice = createDice(asked.seed * 100 + number);
    while (!isOver()) {
      await step(dice);
      const next = Date.now() + dice.below(everyMilliseconds * (asked.restores > 0 ? CALM : 1) * 2);
      while (Date.now() < next && !isOver()) await pause(Math.max(0, Math.min(LOOK_MILLISECONDS, next - Date.now())));
    }
  };
  /** Trouble; not while a person reads what a restore has left, for which each mapping must come to a cycle. */
  const trouble: typeof lane = (number, everyMilliseconds, step) =>
    lane(number, everyMilliseconds, (dice) => (run.restorer.isDeciding() ? undefined : step(dice)));
  const ids = queries.mappingIds();
  for (let user = 1; user <= 3; user++)
    yield lane(user, 150, async (dice) => {
      if (!(await queries.isBehind())) await application.act(dice);
      if (asked.restores === 0) doorbell.nudge(dice);
    });
  for (let user = 4; user <= 5; user++)
    yield lane(user, 250, async (dice) => {
      if (!(await queries.isBehind())) await colleagues.act(dice).catch(() => undefined);
    });
  yield lane(10, 300, async (dice) => {
    const polled = dice.pick(run.mappings);
    if (!polled || polled.rings) return;
    const mapping_id = (await ids).get(polled.object);
    const message = { workspace_id: stage.workspaceId, mapping_id, kind: dice.pick(["poll", "pull"]), slot: null };
    for (let copies = dice.isUnder(0.2) ? 2 : 1; copies > 0; copies--)
      stage.send("cycles", message, dice.below(4) * dice.below(10));
  });
  yield trouble(11, 3_000, async (dice) => operate(run, dice, await ids).catch(() => undefined));
  if (asked.restores > 0)
    yield lane(22, 500, (dice) => (run.restorer.done() < asked.restores ? run.restorer.act(dice) : undefined));
  else yield lane(15, 60_000, (dice) => application.heap(dice.pick(run.mappings)));
  // What the teams do to tables does not go with a restore.
  for (let team = 16; team <= 17 && asked.restores === 0; team++)
    yield lane(team, 5_000, async (dice) => {
      await run.migrator
        .act(dice, await ids, isOver)
        .catch((error: unknown) => asked.say(`a migration failed: ${error}`));
    });
  yield trouble(12, 700, (dice) => {
    const fault = { ...dice.pick(FAULTS), nth: 1 + dice.below(4), times: 1 + dice.below(2) };
    return queries.control("POST", "/faults", fault).catch(() => undefined);
  });
  yield trouble(19, 20_000, async (dice) => {
    // As Salesforce does for some minutes in its own maintenance.
    await queries.control("PUT", "/mode", { readOnly: true }).catch(() => undefined);
    await pause(dice.below(6_000));
    await queries.control("PUT", "/mode", { readOnly: false }).catch(() => undefined);
    await pause(8_000);
  });
  stage.door.spoil(createDice(asked.seed * 100));
  yield trouble(20, 5_000, (dice) => doorbell.die(dice));
  yield trouble(21, 500, (dice) => doorbell.lie(dice));
  yield trouble(13, 4_000, async (dice) => {
    const caller = dice.pick(stage.wire.callers().filter(({ worker }) => ENGINE.includes(worker)));
    if (caller) run.trouble.strike(caller, dice.isUnder(0.7) ? "kill" : "stop");
  });
  yield trouble(14, 15_000, async (dice) => {
    await pause(5_000);
    const [part, how] = [
      dice.pick(["host", "PostgreSQL", "Salesforce"] as const),
      dice.pick(["kill", "stop"] as const),
    ];
    if (part && how && run.parts.strike(part, how)) await run.parts.settled();
  });
}

/** Every operator's action that starts work of its own. */
export async function operate(run: Run, dice: Dice, ids: ReadonlyMap<string, string>): Promise<void> {
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
