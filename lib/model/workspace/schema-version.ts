/**
 * The version that the last migration of Bridge's own tables makes. A release makes one version at most, so the schema of
 * the release before is this one's or one behind, which everything works on; an older one has to be upgraded first.
 */
export const SCHEMA_VERSION = { newest: 9 };

export const isUpToDate = (version: number): boolean => version >= SCHEMA_VERSION.newest;
export const isTooOld = (version: number): boolean => version < SCHEMA_VERSION.newest - 1;

export const reportUpgrade = (schema: string, version: number): string =>
  `the schema ${schema} is being upgraded from version ${version} to ${SCHEMA_VERSION.newest}`;
