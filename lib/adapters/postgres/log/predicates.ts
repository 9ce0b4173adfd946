/*
 * How changes ended, in terms that partial indexes of the log know (`migrations.ts`). None of them names `state`, which
 * tells NEW from PENDING and changes with every claim: what an index names, each of its changes has to be written into.
 */

/** A condition by which indexes know a failed change. */
export const hasFailed = (alias: string): string => `${alias}.state = 'FAILED' AND ${alias}.last_operation = 'FAILED'`;

/** The same of one that has succeeded; without `state`, which no index holds. */
export const hasSucceeded = (alias: string): string =>
  `${alias}.processed_at IS NOT NULL AND ${alias}.last_operation IS DISTINCT FROM 'FAILED'`;
