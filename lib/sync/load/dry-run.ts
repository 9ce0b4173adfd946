import { createHash, randomUUID } from "node:crypto";
import type { TableShape } from "../../model/mapping/shape.ts";
import { allAfter } from "../../model/mapping/soql.ts";
import { afterPage, type DryRun, newDryRun } from "../../model/record/dry-run.ts";
import { imageOf, sfidOf } from "../../model/record/incoming.ts";
import type { Cycle } from "../cycle/cycle.ts";
import { EngineStop } from "../cycle/engine-stop.ts";
import { readPage } from "../pull/read-page.ts";
import { mayOverwrite } from "../pull/refuse-uncaptured.ts";

/** How many records a first load may change in Salesforce before an operator has seen its dry run. */
const MOST_UNSEEN = 100;

/** What a dry run found holds for so long. */
const FRESH_MILLISECONDS = 24 * 3_600_000;

/** Carries on the dry run that was asked for; nothing where none is, or where it has ended. */
export async function dryRun(cycle: Cycle): Promise<void> {
  const run = await cycle.store.dryRun(cycle.lease);
  if (run !== null && run.endedAt === null) await compareAll(cycle, run);
}

/** Throws before a first load that would change more records in Salesforce than an operator has seen. */
export async function refuseUnseen(cycle: Cycle): Promise<void> {
  const { store, lease, shape, clock } = cycle;
  if (!mayOverwrite(shape) || (await store.countUnmatched(lease, MOST_UNSEEN + 1)) <= MOST_UNSEEN) return;
  const last = await store.dryRun(lease);
  const age = clock.now() - new Date(last?.endedAt ?? clock.now()).getTime();
  const isOld = last === null || last.definition !== definitionOf(shape) || age > FRESH_MILLISECONDS;
  const run = isOld || last.endedAt === null ? await compareAll(cycle, isOld ? await begin(cycle) : last) : last;
  if (run.toSalesforce <= MOST_UNSEEN || run.confirmed === run.digest) return;
  throw new EngineStop({
    reason: "first_match",
    message:
      `the first load would change ${run.toSalesforce} records of ${shape.sfObject} in Salesforce, because PostgreSQL wins: ` +
      `nothing is loaded or sent before an operator agrees; read what would change with bridge mapping dry-run ${shape.sfObject}, ` +
      `then run bridge mapping activate ${shape.sfObject} --digest ${run.digest}, or choose another conflict policy`,
  });
}

async function begin({ store, lease, clock }: Cycle): Promise<DryRun> {
  return store.beginDryRun(lease, newDryRun(randomUUID(), new Date(clock.now())));
}

/** Reads every record in the order of ids, and compares those that have a row which has not met them. */
async function compareAll(cycle: Cycle, begun: DryRun): Promise<DryRun> {
  const { store, lease, shape, clock, hold, salesforce } = cycle;
  const definition = definitionOf(shape);
  let run = begun.definition === null || begun.definition === definition ? begun : await begin(cycle);
  if (run.records === null) {
    await hold.mayRead();
    // For a filtered mapping the number is unknown.
    const records = shape.filter === null ? await hold.during(() => salesforce.recordCount(shape.sfObject)) : null;
    run = { ...run, definition, records };
  }
  while (run.endedAt === null) {
    const page = await readPage(cycle, allAfter(shape, run.afterId));
    const met = await store.compare(
      lease,
      page.records.map((record) => imageOf(shape, record)),
    );
    const last = page.records.at(-1);
    const afterId = last === undefined ? run.afterId : sfidOf(last);
    run = { ...afterPage(run, met), read: run.read + page.records.length, afterId, error: null };
    if (page.next === null) run = { ...run, endedAt: new Date(clock.now()).toISOString(), digest: digestOf(run) };
    await store.saveDryRun(lease, run);
  }
  return run;
}

/** Of the mapping as far as it decides what a first load does, so that a digest is worth nothing for another one. */
const definitionOf = ({
  sfObject,
  schema,
  table,
  columns,
  upsertField,
  filter,
  direction,
  conflictPolicy,
}: TableShape) =>
  hash([sfObject, schema, table, columns.map(({ field }) => field), upsertField, filter, direction, conflictPolicy]);

const digestOf = ({ definition, matched, differing, toSalesforce, toPostgres, fields }: DryRun): string =>
  hash([definition, matched, differing, toSalesforce, toPostgres, Object.entries(fields).toSorted()]).slice(0, 32);

const hash = (what: readonly unknown[]): string => createHash("sha256").update(JSON.stringify(what)).digest("hex");
