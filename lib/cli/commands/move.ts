import { setTimeout as pause } from "node:timers/promises";
import type { AdoptHerokuConnectData, ImportConfigData, ListMappingStatesData } from "bridge/api";
import { type Context, isSet } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { type MappingState, NEEDS_SOMEBODY } from "../find.ts";
import { confirm } from "../secret.ts";
import { gatherPlan, isReady, type Plan, readAdoption, reportPlan } from "./migration-plan.ts";

/** A config document, as far as a move reads it. */
export interface Document {
  readonly mappings: readonly { readonly object_name: string; readonly config?: { readonly bridge?: object } }[];
}

/** What a move did, each step with its seconds. */
export interface Moved {
  readonly plan: Plan;
  readonly steps: readonly { readonly step: string; readonly seconds: number }[];
  readonly imported: ImportConfigData;
  readonly mappings: readonly MappingState[];
  /** What Heroku Connect still has, and how long each table was locked. */
  readonly after: AdoptHerokuConnectData;
}

/** Shows what a move would do, unless a program reads it. */
export async function showPlan(context: Context, document: Document): Promise<Plan> {
  const plan = await gatherPlan(context, document);
  if (!context.out.json) reportPlan(context, plan);
  return plan;
}

/** Shows the plan of a document, asks, and carries it out, by another one where that is given. */
export async function move(context: Context, planned: Document, question: string, document = planned): Promise<Moved> {
  const plan = await showPlan(context, planned);
  if (!isReady(plan))
    throw new CommandFailure("conflict", "nothing was changed: first correct the points marked ✗ above");
  if (!isSet(context, "yes") && !(await confirm(context.terminal, question))) {
    throw new CommandFailure("usage", "not confirmed: say --yes to do it without questions");
  }
  const steps: Moved["steps"][number][] = [];
  const step = async <Answer>(name: string, work: () => Promise<Answer>): Promise<Answer> => {
    const begun = performance.now();
    const answer = await work();
    steps.push({ step: name, seconds: Math.round((performance.now() - begun) / 100) / 10 });
    return answer;
  };
  const api = context.api();
  await step("moved Heroku Connect's log aside", () => api.post("/connections/postgres/adopt-heroku-connect"));
  context.out.note("The schema is adopted: Heroku Connect's log is now called _hc_trigger_log.");
  const { data: imported } = await step("imported the mappings", () =>
    api.post<ImportConfigData>("/config/import", { body: document }),
  );
  context.out.note(`The mappings are imported: ${countsOf(imported)}.`);
  const mappings = await step("took the tables over", () => untilSettled(context, document));
  return { plan, steps, imported, mappings, after: await readAdoption(context) };
}

const countsOf = ({ created, updated, skipped }: ImportConfigData) =>
  `${created} created, ${updated} updated, ${skipped} as they were`;

/** The mappings of a document's objects. */
export async function mappingsOf(context: Context, document: Document): Promise<readonly MappingState[]> {
  const objects = new Set(document.mappings.map((one) => String(one?.object_name).toLowerCase()));
  const { data } = await context.api().get<ListMappingStatesData>("/monitoring/mappings");
  return data.filter(({ sf_object }) => objects.has(sf_object.toLowerCase()));
}

/** States that a mapping leaves automatically. */
const ON_THEIR_WAY = new Set(["provisioning", "loading", "unknown"]);

/** An inactive one is paused before its table is there: Heroku Connect captures it until then. */
async function onTheirWay(context: Context, mappings: readonly MappingState[]): Promise<readonly MappingState[]> {
  const open = mappings.filter(({ state }) => ON_THEIR_WAY.has(state));
  if (open.length > 0 || !mappings.some(({ state }) => state === "paused")) return open;
  const theirs = new Set((await readAdoption(context)).tables.map(({ table }) => table));
  return mappings.filter(({ state, pg_table }) => state === "paused" && theirs.has(pg_table));
}

/** Waits until each mapping has its table, and its first load. */
export async function untilSettled(context: Context, document: Document): Promise<readonly MappingState[]> {
  for (;;) {
    const ours = await mappingsOf(context, document);
    const open = await onTheirWay(context, ours);
    context.out.progress(open.length === 0 ? "" : progressText(ours, open));
    if (open.length === 0) return mappingsOf(context, document);
    await pause(1000, undefined, { signal: context.terminal.interrupted });
  }
}

const progressText = (all: readonly MappingState[], open: readonly MappingState[]) =>
  `${all.length - open.length} of ${all.length} mappings are ready; ${open.map(({ sf_object, state }) => `${sf_object} is ${state}`).join(", ")}`;

/** Whether a mapping needs a person. */
export const hasStuck = ({ mappings }: Moved) => mappings.some(({ state }) => NEEDS_SOMEBODY.has(state));

/** What a move did: of the day, or of its rehearsal. */
export function reportMove(context: Context, moved: Moved): void {
  const { out } = context;
  const { plan, ...done } = moved;
  const { steps, mappings, after } = done;
  const { tables, taken_over: takenOver = [] } = after;
  if (out.json) out.record({ ...plan, ...done });
  const locked = new Map(takenOver.map(({ table, locked_ms }) => [table, locked_ms]));
  if (!out.json)
    out.list(
      mappings,
      [
        { name: "OBJECT", of: ({ sf_object }) => sf_object },
        { name: "TABLE", of: ({ pg_table }) => pg_table },
        { name: "STATE", of: ({ state }) => state },
        { name: "LOCKED MS", of: ({ pg_table }) => locked.get(pg_table) ?? null, right: true },
        { name: "WAITING", of: ({ waiting }) => waiting, right: true },
        { name: "FAILED", of: ({ failed }) => failed, right: true },
        { name: "ROWS", of: ({ compared }) => compared?.rows ?? null, right: true },
        { name: "RECORDS", of: ({ compared }) => compared?.records ?? null, right: true },
        { name: "DIFFERING", of: ({ compared }) => compared?.differing ?? null, right: true },
        { name: "REASON", of: ({ reason }) => reason, spare: true },
      ],
      "The export names no mapping.",
    );
  for (const { step, seconds } of steps) out.note(`${seconds} s: ${step}`);
  for (const line of LOCKS) out.note(line);
  for (const { sf_object, reason, state } of mappings) {
    if (!NEEDS_SOMEBODY.has(state)) continue;
    const why = reason ?? "see bridge mapping show";
    out.note(`${sf_object} is not adopted: ${why}. Correct that, then run this command again.`);
  }
  // Tables that no mapping names: their changes pile up in a log that is not sent.
  const left = tables.map(({ table }) => table);
  if (left.length > 0) {
    out.note(
      `Heroku Connect's triggers still capture ${left.join(", ")}, into _hc_trigger_log: add mappings for them, or drop the triggers.`,
    );
  }
  if (hasStuck(moved)) context.endAs("unwell");
}

const LOCKS = [
  "While the log is moved aside, all tables are locked against writes (SHARE ROW EXCLUSIVE); then each table alone, for",
  "LOCKED MS, against reads as well (ACCESS EXCLUSIVE).",
];
