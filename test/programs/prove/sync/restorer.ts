import { setTimeout as pause } from "node:timers/promises";
import type { Dice } from "../../../support/doubles/dice.ts";
import { type Application, DEEDS } from "./application.ts";
import type { Deed, Restored } from "./judge/evidence.ts";
import type { Queries } from "./queries.ts";
import type { PutBack } from "./stage/copies.ts";
import type { Parts } from "./stage/parts.ts";
import type { Stage } from "./stage/stage.ts";
import type { Trouble } from "./trouble.ts";

/** A mapping as `bridge restore plan` shows it. */
interface Planned {
  readonly mapping_id: string;
  readonly sf_object: string;
  readonly pg_table: string;
  readonly state: "in_step" | "restored_copy" | "config_behind";
  readonly groups: readonly {
    readonly group: string | null;
    readonly rows: number;
    readonly samples: readonly { readonly record_id: number }[];
  }[];
}

/** The same as the list of mappings shows it. */
interface Shown {
  readonly id: string;
  readonly state: string;
  readonly failure: string | null;
  readonly reason: string | null;
  readonly last_run_at: string | null;
}

/** Who restores either side to an earlier time, and the person who decides afterwards. */
export type Restorer = ReturnType<typeof createRestorer>;

interface Settings {
  readonly seed: number;
  readonly stage: Pick<Stage, "api" | "copyPostgres" | "copyDynamoDb" | "clock" | "databaseUrl">;
  readonly queries: Pick<Queries, "query" | "control">;
  readonly trouble: Pick<Trouble, "calm">;
  readonly application: Pick<Application, "rest">;
  readonly parts: Pick<Parts, "alone">;
  readonly say: (text: string) => void;
}

const KINDS = ["PostgreSQL", "DynamoDB", "both"] as const;

/** From a failover's moments to a backup of the hour before. */
const LOST_SECONDS = [0, 40, 200, 1_500];

/** What is lost passes in so many steps, so that some minutes are counted. */
const STEPS = 4;

/** So long a person waits for the plan; time advances after the first seconds. */
const PATIENCE_MILLISECONDS = 200_000;
const REAL_MILLISECONDS = 15_000;
const LOOK_SECONDS = 5;

const DECISIONS = [{}, { newer: "ours" }, { newer: "leave", only_here: "leave", proposed: "leave" }] as const;

export function createRestorer(settings: Settings) {
  const { stage, queries, application, parts, trouble, seed, say } = settings;
  const restored: (Restored & { readonly decided: Restored["decided"][number][] })[] = [];
  let done = 0;
  let isDeciding = false;
  /** Mappings that did not continue, or said too little. */
  const complaints: (readonly [name: string, what: string])[] = [];
  const setPaused = (paused: boolean) =>
    stage.api("PUT", "/pause", paused ? { paused, reason: "a backup of both" } : { paused });

  /** Each mapping must come to a cycle, for which trouble ends meanwhile. */
  const setDeciding = async (to: boolean) => {
    isDeciding = to;
    trouble.calm(to);
    if (!to) return;
    await again(() => queries.control("DELETE", "/faults"));
    await again(() => queries.control("PUT", "/mode", { readOnly: false }));
  };

  const copy = (dice: Dice, what: Restored["what"]) =>
    parts.alone(async () => {
      if (what === "both") await setPaused(true);
      const copies: PutBack[] = [];
      if (what !== "PostgreSQL") copies.push(stage.copyDynamoDb());
      if (what !== "DynamoDB") copies.push(await stage.copyPostgres(dice.pick(["folder", "dump"]) ?? "dump"));
      const copiedAt = Date.now();
      if (what === "both") await setPaused(false);
      return { copies, copiedAt };
    });

  const ledger = async () => ({
    deeds: new Map((await queries.query<Deed>(DEEDS)).map((deed) => [JSON.stringify(deed), deed])),
    announced: (await queries.query<{ readonly id: string }>(ANNOUNCED)).map(({ id }) => id),
  });

  const restore = async (copies: readonly PutBack[]) => {
    const goOn = await application.rest();
    try {
      const before = await again(ledger);
      await parts.alone(async () => {
        for (const putBack of copies) await putBack();
      });
      const after = await again(ledger);
      const undone = [...before.deeds].flatMap(([key, deed]): Deed[] => (after.deeds.has(key) ? [] : [deed]));
      const unannounced = before.announced.filter((id) => !after.announced.includes(id));
      return { undone, unannounced };
    } finally {
      goOn();
    }
  };

  const look = async () => ({
    plan: ((await stage.api("GET", "/restore")) as { readonly mappings: readonly Planned[] }).mappings,
    shown: (await stage.api("GET", "/monitoring/mappings")) as readonly Shown[],
  });

  /** Until each mapping moves, or says why it does not and what waits of it. */
  const untilPlanned = async (since: number) => {
    for (const began = Date.now(); ; await pause(500)) {
      const { plan, shown } = await look();
      const silent = plan
        .map((planned) => ({ planned, is: shown.find(({ id }) => id === planned.mapping_id) }))
        .filter(({ planned, is }) => !isReady(planned, is, since));
      const isOver = Date.now() - began > PATIENCE_MILLISECONDS;
      if (isOver) for (const one of silent) complaints.push([nameOf(one.is), JSON.stringify(one)]);
      if (isOver || silent.length === 0) return plan;
      for (const { planned, is } of silent) await remedy(planned, is);
      if (Date.now() - began > REAL_MILLISECONDS) stage.clock.advance(LOOK_SECONDS);
    }
  };

  /** What doctor says where neither plan nor acceptance is the answer. */
  const remedy = async (planned: Planned, is: Shown | undefined) => {
    if (is?.state === "paused" || is?.state === "inactive")
      await stage.api("POST", `/mappings/${planned.mapping_id}/activate`);
    if (/connect the workspace to its database again/.test(is?.reason ?? ""))
      await stage.api("PUT", "/connections/postgres", { url: stage.databaseUrl, schema: "salesforce" });
  };

  const accept = async (planned: Planned, body: Readonly<Record<string, unknown>>, of: (typeof restored)[number]) => {
    const ours = body["newer"] === "ours";
    const rows = (body["rows"] ?? []) as readonly { readonly record_id: number }[];
    const open = await again(() => queries.query<Deed>(openOf(planned.pg_table)));
    for (const { recordId, ...change } of open)
      of.decided.push({ ...change, isOurs: ours || rows.some(({ record_id }) => record_id === recordId) });
    for (let attempt = 1; ; attempt++)
      try {
        await stage.api("POST", `/mappings/${planned.mapping_id}/accept-restore`, body);
        return;
      } catch (error) {
        if (attempt === 60 || !String(error).includes("not looked up yet")) throw error;
        stage.clock.advance(LOOK_SECONDS);
        await pause(1_000);
      }
  };

  return {
    restored,
    complaints,
    /** Restores that a person has decided. */
    done: () => done,
    isDeciding: () => isDeciding,
    /** One copy, some time, its restore, and the decisions. */
    act: async (dice: Dice) => {
      const what = KINDS[(seed + restored.length) % KINDS.length] ?? "both";
      const lostSeconds = dice.pick(LOST_SECONDS) ?? 0;
      const { copies, copiedAt } = await copy(dice, what);
      for (let step = 0; step < STEPS; step++) {
        await pause(1_000 + dice.below(2_000));
        stage.clock.advance(lostSeconds / STEPS);
      }
      const lost = await restore(copies);
      const since = stage.clock.now();
      const one = { what, copiedAt, restoredAt: Date.now(), ...lost, decided: [] };
      restored.push(one);
      say(`${what} restored by ${lostSeconds} s: ${lost.undone.length} changes of the application are gone`);
      if (what === "both") await stage.api("POST", "/restore");
      if (what !== "PostgreSQL") await setPaused(false);
      await setDeciding(true);
      const plan = await untilPlanned(since);
      const groups = plan.flatMap((planned) => [
        ...(planned.state === "in_step" ? [] : [`${planned.sf_object} ${planned.state}`]),
        ...planned.groups.map(({ group, rows }) => `${rows} ${group}`),
      ]);
      say(`the plan: ${groups.join(", ") || "all in step"}`);
      for (const planned of plan) {
        if (planned.state === "in_step") continue;
        const [row] = planned.groups.find(({ group }) => group === "newer")?.samples ?? [];
        const rows = row && dice.isUnder(0.3) ? [{ record_id: row.record_id, decision: "ours" }] : [];
        await accept(planned, { ...dice.pick(DECISIONS), rows }, one);
      }
      await setDeciding(false);
      done += 1;
    },
    /** Decides what was left. */
    settle: async () => {
      const [first] = restored; // any of them may have left it
      if (!first) return;
      for (const planned of (await look()).plan)
        if (planned.groups.length > 0) await accept(planned, { unclear: "salesforce" }, first);
    },
  };
}

function isReady({ state, groups }: Planned, is: Shown | undefined, since: number): boolean {
  if (is === undefined) return false;
  if (state === "config_behind") return is.failure === "config_behind";
  const isLookedUp = groups.every(({ group }) => group !== null);
  if (state === "restored_copy") return isLookedUp && is.failure === "database_rewound";
  return is.failure === null && is.last_run_at !== null && Date.parse(is.last_run_at) > since;
}

/** What is green may not be silent. */
const nameOf = (is: Shown | undefined) =>
  is && is.failure === null && is.state !== "paused" ? "green while nothing moves" : "no way on after a restore";

/** PostgreSQL may be struck meanwhile. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === 60) throw error;
      await pause(500);
    }
  }
}

const ANNOUNCED = "SELECT event_id AS id FROM proof.announced";

/** What has not ended of a table, each with what distinguishes its row. */
const openOf = (table: string) => `
  SELECT l.table_name AS "table", l.record_id::int AS "recordId", lower(l.action) AS action,
    coalesce(l."values", '{}') AS "values", (SELECT tag FROM proof.deeds d
    WHERE d.table_name = l.table_name::text AND d.record_id = l.record_id ORDER BY seq DESC LIMIT 1) AS tag
  FROM salesforce._trigger_log l WHERE l.table_name::text = '${table}' AND l.processed_at IS NULL`;
