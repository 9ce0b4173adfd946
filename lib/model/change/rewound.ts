/**
 * The batches of changes that wait in a database which was rewound: whether and when they were sent since their capture is
 * unknown. `LOST_TAIL`: they are looked up as lost answers are. The others were restored, and a person decides.
 */
export const LOST_TAIL = "lost tail";
export const REWOUND = "rewound";

/** What a person decides of restored changes; left out, they wait. */
export const DECISIONS = ["salesforce", "ours"] as const;
export type Decision = (typeof DECISIONS)[number];

/** The batch of those that a person has decided. */
export const decidedAs = (decision: Decision): string => `${REWOUND}: ${decision}`;

/** The batch of those that were never sent and a person lets go: the pull judges them first, as any change. */
export const UNSENT = `${REWOUND}: unsent`;

/** Whether a batch was never sent as such: it is only known that its changes may have been sent. */
export const isOfRewind = (batchId: string): boolean => batchId === LOST_TAIL || batchId.startsWith(REWOUND);

/** What a look-up says of a restored change that Salesforce does not hold as it is, with what a person decides by default. */
export const GROUPS = {
  newer: { means: "Salesforce holds other values, changed since the row was last read", by: "salesforce" },
  only_here: { means: "Salesforce does not have it", by: "ours" },
  proposed: { means: "one record of Bridge's user holds all of its values", by: "salesforce" },
  unclear: { means: "several records may be its result", by: null },
} as const satisfies Readonly<Record<string, { readonly means: string; readonly by: Decision | null }>>;
export type Group = keyof typeof GROUPS;

/** Whether a change waits for a person's decision, by its message. */
export const isUndecided = (message: string | null): boolean =>
  Object.keys(GROUPS).includes(message?.split(":")[0] ?? "");

/** How the message of a change begins that is in this group. */
export const findingOf = (group: Group, more = ""): string => `${group}: ${GROUPS[group].means}${more}`;
