/** The schedules that start the beat: one per active mapping, once a minute. */
export interface Schedules {
  /** Makes the mapping's schedule if there is none; harmless when there is. */
  ensure(schedule: { readonly workspaceId: string; readonly mappingId: string }): Promise<void>;
  /** Ends it; harmless when there is none. */
  remove(mappingId: string): Promise<void>;
  /** The mappings that have one. */
  list(): AsyncIterable<string>;
}
