/**
 * The version that the last migration of Bridge's own tables makes, and the one that the release before has: everything
 * works on that one. A release makes one version at most; a schema that is further behind has to be upgraded first.
 */
export const SCHEMA_VERSION = { newest: 9, before: 9 };

export const isUpToDate = (version: number): boolean => version >= SCHEMA_VERSION.newest;
export const isTooOld = (version: number): boolean => version < SCHEMA_VERSION.before;

export const reportUpgrade = (schema: string, version: number): string =>
  `the schema ${schema} is being upgraded from version ${version} to ${SCHEMA_VERSION.newest}`;
