/** The schedules that start the beat: one per active mapping, which fires every five minutes. */
export interface Schedules {
  /** Makes the mapping's schedule if there is none; harmless when there is. */
  ensure(schedule: { readonly workspaceId: string; readonly mappingId: string }): Promise<void>;
  /** Ends it, an old one as well; harmless when there is none. */
  remove(mappingId: string): Promise<void>;
  /** Ends one that a version up to 0.3.1 made, which fires every minute; harmless when there is none. */
  removeOld(mappingId: string): Promise<void>;
  /** The mappings that have one, and those that have an old one. */
  list(): AsyncIterable<{ readonly mappingId: string; readonly isOld: boolean }>;
}

/** For each mapping the last period (epoch seconds of its beginning) whose beats were sent. */
export interface Ticks {
  note(workspaceId: string, mappingIds: readonly string[], period: number): Promise<void>;
  read(workspaceId: string): Promise<ReadonlyMap<string, number>>;
}
