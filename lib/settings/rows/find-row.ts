import type { SealedWorkspace } from "../../access/ports.ts";
import type { Mappings } from "../../config/ports.ts";
import { Failure } from "../../model/failure.ts";
import type { Mapping } from "../../model/mapping/mapping.ts";
import { withUpsertValue } from "../../model/mapping/soql.ts";
import { withDatabase } from "../../monitoring/with-database.ts";
import type { RowQueriesOf, RowStory } from "../row-ports.ts";
import type { RecordOf } from "./restore-row.ts";

/** A row by the id of its record, its own key or its value of the upsert field. */
export interface NamedRow {
  readonly workspace: SealedWorkspace;
  /** Where it is looked for, in this order. */
  readonly mappings: readonly Mapping[];
  readonly key: string;
}

type Known = Pick<Mappings, "list">;

/** The mappings that a path means by `{table}`: one by its table, object or id, or all by `-`. */
export async function mappingsNamed(mappings: Known, workspaceId: string, wanted: string): Promise<readonly Mapping[]> {
  if (wanted === "-") return (await mappings.list(workspaceId)).mappings;
  return [await mappingNamed(mappings, workspaceId, wanted)];
}

/** The mapping of a table, an object or an id. */
export async function mappingNamed(mappings: Known, workspaceId: string, wanted: string): Promise<Mapping> {
  const { mappings: all } = await mappings.list(workspaceId);
  const named = wanted.toLowerCase();
  const found = all.find(({ id, pgTable, sfObject }) =>
    [id.toLowerCase(), pgTable.toLowerCase(), sfObject.toLowerCase()].includes(named),
  );
  if (found) return found;
  const known = all.map(({ pgTable }) => pgTable).join(", ") || "none";
  throw new Failure("NOT_FOUND", `no mapping has a table or object "${wanted}"; mapped tables: ${known}`);
}

/** Mappings whose upsert field the org is asked for a key that the database does not know. */
const ASKED_AT_ONCE = 5;

/** The row, or what is known of one that is gone: of a record that Salesforce deleted, only the org knows the upsert value. */
export async function findStory(
  { rowQueries, recordOf }: { readonly rowQueries: RowQueriesOf; readonly recordOf: RecordOf },
  { workspace, mappings, key }: NamedRow,
): Promise<{ readonly mapping: Mapping; readonly story: RowStory }> {
  const found = await withDatabase(rowQueries, workspace, async (queries) => {
    for (const mapping of mappings) {
      const story = await queries.story(mapping.id, key);
      if (story) return { mapping, story };
    }
    for (const mapping of mappings.filter(({ upsertField }) => upsertField !== null).slice(0, ASKED_AT_ONCE)) {
      const soql = withUpsertValue(mapping.sfObject, mapping.upsertField ?? "", key);
      const record = await recordOf(workspace.id, soql).catch(() => null); // the key may be none that the field takes
      const story = record && (await queries.story(mapping.id, String(record["Id"])));
      if (story) return { mapping, story };
    }
    return null;
  });
  if (found) return found;
  const where = mappings.length === 1 ? `${mappings[0]?.pgTable} has no` : "no mapped table has a";
  throw new Failure(
    "NOT_FOUND",
    `${where} row "${key}": give the id of its record, its own key, or its value of the upsert field`,
  );
}
