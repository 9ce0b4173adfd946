import type { Acting } from "../access/ports.ts";
import { Failure, type FailureDetail } from "../model/failure.ts";
import { newId } from "../model/id.ts";
import { writeLine } from "../model/log-line.ts";
import type { Mapping } from "../model/mapping/mapping.ts";
import { auditEntry } from "../model/workspace/audit.ts";
import { settingChanges } from "./changed-mapping.ts";
import { describeEntries } from "./describe-entries.ts";
import { type Entry, parseDocument, unknownKeys, unknownKeyWarning } from "./document.ts";
import type { Org } from "./org-ports.ts";
import { mappingOf, type Planned, planImport } from "./plan-import.ts";
import type { ImportPlan, MappingChange, Mappings } from "./ports.ts";
import { type RollForwardNeeds, rollForward } from "./roll-forward.ts";
import { configVersionOf, requireVersion } from "./version.ts";

export interface ImportNeeds extends RollForwardNeeds {
  readonly mappings: Mappings;
  readonly org: Org;
  /** What the workspace's mappings cost once they are these. */
  readonly readCost: (workspaceId: string, at: Date, then: readonly Mapping[]) => Promise<ImportCost>;
}

/** Of the org's API calls, as a dry run shows them. */
export type ImportCost = Readonly<Record<string, unknown>>;

interface Asked extends Acting {
  /** The parsed body: a config document, bare or in the envelope of an export. */
  readonly document: unknown;
  /** The version of the configuration that the import is meant for (If-Match); null takes any. */
  readonly ifMatch: string | null;
  /** Give the plan, change nothing. */
  readonly dryRun: boolean;
}

/** How often an import is planned again because another caller changed the workspace's mappings meanwhile. */
const ATTEMPTS = 5;

/** Seconds for which an import carries itself out; the worker ends what is left. */
const OWN_SECONDS = 8;

/** Seconds after which the worker looks whether this import was left half carried out. */
const WORKER_DELAY_SECONDS = 15;

/**
 * Makes a workspace's mappings what a document says: checked whole first, then committed at once, then carried out; the
 * contract's `importResult`. Refuses with every problem by its path, and has changed nothing then.
 */
export async function importConfig(needs: ImportNeeds, asked: Asked) {
  const parsed = parseDocument(asked.document);
  if (parsed.problems.length > 0) throw refused("VALIDATION_ERROR", parsed.problems);

  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    await finishOpenImport(needs, asked.workspace.id);
    const { generation, mappings } = await needs.mappings.list(asked.workspace.id);
    requireVersion(asked.ifMatch, configVersionOf(generation));
    const planned = await decide(needs.org, asked, parsed.entries, mappings);
    const result = resultOf(planned);
    if (asked.dryRun) {
      const changes = planned.changes.map(plannedChange);
      const then = [
        ...new Map([...mappings, ...planned.changes.map(({ after }) => after)].map((one) => [one.id, one])).values(),
      ];
      const calls = await needs.readCost(asked.workspace.id, asked.at, then);
      return { ...result, changes, warnings: warningsOf(asked.document, parsed.entries, mappings, planned), calls };
    }
    if (await commitPlan(needs, asked, planned, generation)) return result;
  }
  throw new Failure("CONFLICT", "the workspace's mappings kept changing while this import was planned: import again");
}

/** Keys without effect, but those of other products that a mapping has already; upsert fields that would be lost; what will be refused. */
function warningsOf(
  document: unknown,
  entries: readonly Entry[],
  existing: readonly Mapping[],
  { warnings }: Planned,
): readonly FailureDetail[] {
  const known = new Set<string>();
  const lost = entries.flatMap((entry) => {
    const { upsertField = null, foreign = {} } = mappingOf(entry, existing) ?? {};
    for (const key of Object.keys(foreign)) known.add(`${entry.path}.config.${key}`);
    if (upsertField === null || entry.upsertField !== null) return [];
    const message = `${upsertField} would be lost, by which records are recognised: "upsert_field": "${upsertField}" keeps it`;
    return [{ path: `${entry.path}.config.upsert_field`, message }];
  });
  const strays = unknownKeys(document).filter(({ path }) => !known.has(path));
  const ours = [...lost, ...warnings];
  const all = [...ours, ...strays.slice(0, MAX_DETAILS).map(unknownKeyWarning)].slice(0, MAX_DETAILS);
  const more = ours.length + strays.length - all.length;
  return more > 0 ? [...all, { path: "mappings", message: `and ${more} more warnings` }] : all;
}

async function finishOpenImport(needs: ImportNeeds, workspaceId: string): Promise<void> {
  if (await rollForward(needs, workspaceId, forSeconds(OWN_SECONDS))) return;
  throw new Failure("CONFLICT", "another import is still being carried out: import again in a minute");
}

async function decide(
  org: Org,
  { workspace, at }: Asked,
  entries: readonly Entry[],
  existing: readonly Mapping[],
): Promise<Planned> {
  const described = await describeEntries(org, workspace, entries, existing);
  const planned = planImport({ workspaceId: workspace.id, at, existing, entries, described });
  if (planned.problems.length > 0) throw refused("VALIDATION_ERROR", planned.problems);
  if (planned.conflicts.length > 0) throw refused("CONFLICT", planned.conflicts);
  return planned;
}

/**
 * The worker is woken before the commit: if this process dies right after it, the plan is carried out all the same; if
 * it dies right before, the worker finds nothing to do.
 */
async function commitPlan(needs: ImportNeeds, asked: Asked, planned: Planned, generation: number): Promise<boolean> {
  if (planned.changes.length === 0) return true;
  const workspaceId = asked.workspace.id;
  const plan: ImportPlan = {
    id: newId("imp"),
    workspaceId,
    actor: asked.actor,
    at: asked.at,
    changes: planned.changes,
  };
  const message = { workspace_id: workspaceId, mapping_id: null, import_id: plan.id };
  await needs.provisioning.send([{ message, delaySeconds: WORKER_DELAY_SECONDS }]);
  const entry = auditEntry({ ...asked, workspaceId }, "config.imported", plan.id, { ...resultOf(planned) });
  if (!(await needs.plans.commit(plan, generation, entry))) return false;
  await carryOutSoon(needs, workspaceId);
  return true;
}

/** The import is decided: trouble from here on is the worker's to end, and the operator's to read of. */
async function carryOutSoon(needs: ImportNeeds, workspaceId: string): Promise<void> {
  try {
    await rollForward(needs, workspaceId, forSeconds(OWN_SECONDS));
  } catch (error) {
    writeLine({
      level: "error",
      workspace_id: workspaceId,
      message: "import left to the worker",
      fault: String(error),
    });
  }
}

function forSeconds(seconds: number): () => boolean {
  const end = performance.now() + seconds * 1000;
  return () => performance.now() < end;
}

function resultOf({ changes, skipped }: Planned) {
  const created = changes.filter(({ before }) => before === null).length;
  return { created, updated: changes.length - created, skipped };
}

function plannedChange({ before, after }: MappingChange) {
  const [was, is] = [new Set(before?.fields), new Set(after.fields)];
  const settings = before === null ? [] : settingChanges(before, after);
  return {
    object_name: after.sfObject,
    pg_table: after.pgTable,
    action: before === null ? "create" : "update",
    fields_added: after.fields.filter((field) => !was.has(field)),
    fields_removed: [...was].filter((field) => !is.has(field)),
    settings_changed: settings.map(({ name }) => name),
    settings,
  };
}

/** Details or warnings that one answer lists; the rest is given as a number. */
const MAX_DETAILS = 50;

function refused(code: "VALIDATION_ERROR" | "CONFLICT", problems: readonly FailureDetail[]): Failure {
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  return new Failure(code, `nothing was imported: ${first?.path} ${first?.message}${more}`, {
    details: problems.slice(0, MAX_DETAILS),
  });
}
