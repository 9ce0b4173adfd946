import type { Acting } from "../access/ports.ts";
import { Failure, type FailureDetail } from "../model/failure.ts";
import type { Mapping } from "../model/mapping/mapping.ts";
import { type ChangeNeeds, changeMapping } from "./change-mapping.ts";
import { describeEntries } from "./describe-entries.ts";
import type { Entry } from "./document.ts";
import type { Settings } from "./mapping-rules.ts";
import type { Org } from "./org-ports.ts";
import { planImport } from "./plan-import.ts";
import type { MappingChange } from "./ports.ts";
import { requireVersion, versionOf } from "./version.ts";

export interface SaveNeeds extends ChangeNeeds {
  readonly org: Org;
}

/** What a person says of a mapping; what is undefined stays as it is, or is the default. */
type Wanted = Settings & { readonly fields?: readonly string[] | undefined };

/** Ties an object to a table; with what will be refused later. Refuses with CONFLICT an object or a table that another mapping has. */
export async function createMapping(
  needs: SaveNeeds,
  asked: Acting,
  { sfObject: object, ...wanted }: Wanted & { readonly sfObject: string },
): Promise<{ readonly mapping: Mapping; readonly warnings: readonly FailureDetail[] }> {
  let warnings: readonly FailureDetail[] = [];
  const mapping = await changeMapping(needs, onWorkspace(asked), async (existing) => {
    const name = object.toLowerCase();
    if (existing.some(({ sfObject }) => sfObject.toLowerCase() === name)) {
      throw new Failure("CONFLICT", `${object} has a mapping in this workspace already`);
    }
    const entry = { ...entryOf(object, wanted), upsertField: wanted.upsertField ?? null };
    const planned = await decide(needs, asked, entry, existing);
    warnings = planned.warnings;
    if (planned.change === null) throw new Error(`no mapping resulted for ${object}`);
    return planned.change;
  });
  return { mapping, warnings };
}

/** Changes what `wanted` says of a mapping and nothing else; the mapping as it is then. */
export function updateMapping(
  needs: SaveNeeds,
  asked: Acting & { readonly mappingId: string; readonly ifMatch: string | null },
  wanted: Wanted,
): Promise<Mapping> {
  return changeMapping(needs, onWorkspace(asked), async (existing) => {
    const mapping = existing.find(({ id }) => id === asked.mappingId);
    if (!mapping) throw new Failure("MAPPING_NOT_FOUND", "this workspace has no mapping with this id");
    requireVersion(asked.ifMatch, versionOf(mapping));
    const { upsertField = mapping.upsertField } = wanted;
    const entry = { ...entryOf(mapping.sfObject, wanted), upsertField, foreign: mapping.foreign };
    const { change } = await decide(needs, asked, entry, existing);
    return change ?? { before: mapping, after: mapping };
  });
}

const onWorkspace = ({ workspace, actor, at }: Acting) => ({ workspaceId: workspace.id, actor, at });

/** Judged by the very rules of an import of one entry. */
async function decide(
  { org }: SaveNeeds,
  { workspace, at }: Acting,
  entry: Entry,
  existing: readonly Mapping[],
): Promise<{ readonly change: MappingChange | null; readonly warnings: readonly FailureDetail[] }> {
  const described = await describeEntries(org, workspace, [entry], existing);
  const planned = planImport({ workspaceId: workspace.id, at, existing, entries: [entry], described });
  refuse("VALIDATION_ERROR", planned.problems);
  refuse("CONFLICT", planned.conflicts);
  return { change: planned.changes[0] ?? null, warnings: placedInBody(planned.warnings) };
}

function refuse(code: "VALIDATION_ERROR" | "CONFLICT", problems: readonly FailureDetail[]): void {
  const details = placedInBody(problems);
  const [first] = details;
  if (first) throw new Failure(code, `${first.path}: ${first.message}`, { details });
}

/** Places in a config document as the places in a request of the settings area. */
const placedInBody = (details: readonly FailureDetail[]): readonly FailureDetail[] =>
  details.map(({ path, message }) => ({
    path: path.replace(/^body\.config\.(bridge\.)?/, "body.").replace(/^body\.object_name$/, "body.sf_object"),
    message,
  }));

function entryOf(objectName: string, { fields, ...settings }: Wanted): Entry {
  const unsaid = { access: null, upsertField: null, foreign: {} };
  return { path: "body", objectName, fields: fields ?? null, settings, ...unsaid };
}
