/** How a row is, in the order in which a person looks at them. `no_record`: nothing waits, and Salesforce has none. */
export const ROW_STATES = ["failed", "conflict", "waiting", "no_record", "synced"] as const;

export type RowState = (typeof ROW_STATES)[number];
