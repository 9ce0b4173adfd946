/**
 * What a mapped table lacks, where the application changes its tables itself (`schema_changes: propose`). The names of its
 * members are those of the API.
 */
export interface Migration {
  readonly schema: string;
  readonly table: string;
  /** The table itself is missing. */
  readonly create: boolean;
  readonly columns: readonly ProposedColumn[];
  /** Columns that are there and narrower than their fields. The mapping does not wait for them. */
  readonly wider: readonly ProposedColumn[];
  readonly indexes: readonly ProposedIndex[];
}

export interface ProposedColumn {
  readonly column: string;
  readonly type: string;
}

export interface ProposedIndex {
  readonly name: string;
  readonly column: string;
  readonly unique: boolean;
}

/** A migration with the statements that carry it out. */
export interface Proposal extends Migration {
  readonly sql: readonly string[];
}

/** Whether the mapping cannot continue before the migration is there. */
export const isAwaited = ({ create, columns, indexes }: Migration): boolean =>
  create || columns.length + indexes.length > 0;

/** For the operator: what is missing, and what to do about it. */
export function explainMigration({ schema, table, create, columns, indexes }: Migration): string {
  const lacks = [
    ...(columns.length > 0 ? [`the columns ${listed(columns)}`] : []),
    ...(indexes.length > 0 ? [`indexes on ${listed(indexes)}`] : []),
  ].join(" and ");
  const problem = create ? `table ${schema}.${table} is missing` : `table ${schema}.${table} lacks ${lacks}`;
  return `${problem}; run the migration that bridge schema propose prints (schema_changes is propose). The mapping then continues within two minutes; nothing is pulled or sent meanwhile`;
}

/** The first ones by name, and how many more there are. */
function listed(things: readonly { readonly column: string }[]): string {
  const names = things.slice(0, MOST_NAMES).map(({ column }) => column);
  return things.length > MOST_NAMES ? `${names.join(", ")} and ${things.length - MOST_NAMES} more` : names.join(", ");
}

const MOST_NAMES = 10;
