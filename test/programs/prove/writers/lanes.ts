import type { Policy } from "./judge.ts";

/** Rows and records that are written by both sides: one mapping. */
export interface Lane {
  /** The object's name, and the table's. */
  readonly object: string;
  readonly policy: Policy;
  /** What the check before a save is set to. */
  readonly check: "auto" | "on" | "off";
  readonly pollingSeconds: number;
  /** `heap`: all its rows are written at once, so that a Bulk job saves them. */
  readonly way: "single" | "heap";
  readonly records: number;
  readonly doubleWrites: number;
  /** How often all its rows are written. */
  readonly heaps: number;
}

/** More rows than this go by a Bulk job, also when those that were judged first are left out. */
const HEAP_ROWS = 2_600;

/** Each has a field of its own, so that every double write stays as it was judged. */
export const HEAP_FIELDS = ["Field1__c", "Field2__c", "Field3__c"] as const;

const POLICIES: readonly (readonly [Policy, "auto" | "on"])[] = [
  ["salesforce_wins", "auto"],
  ["latest_wins", "auto"],
  ["postgres_wins", "on"],
];

/** A lane for each policy, interval and way; a quarter of the double writes are part of a heap. */
export function lanesFor(isBrief: boolean, isChecked: boolean): readonly Lane[] {
  const writes = isBrief ? 60 : 2000;
  const heapSeconds = isBrief ? [600] : [10, 600];
  const singles = Math.ceil((writes * 3) / 4 / 6);
  const single = { doubleWrites: singles, records: singles, heaps: 0 };
  const heap = {
    doubleWrites: Math.ceil(writes / 4 / 3 / heapSeconds.length),
    ...{ records: HEAP_ROWS, heaps: isBrief ? 1 : HEAP_FIELDS.length },
  };
  return POLICIES.flatMap(([policy, usual]) => {
    const laneOf = (way: Lane["way"], pollingSeconds: number): Lane => ({
      object: `${policy}_${way}_${pollingSeconds}__c`,
      ...{ policy, check: isChecked ? usual : "off", way, pollingSeconds, ...(way === "heap" ? heap : single) },
    });
    return [
      ...[10, 600].map((seconds) => laneOf("single", seconds)),
      ...heapSeconds.map((seconds) => laneOf("heap", seconds)),
    ];
  });
}

/** The org's side of them. */
export const definitionOf = (lanes: readonly Lane[]): object => ({
  objects: lanes.map(({ object }) => ({
    name: object,
    fields: HEAP_FIELDS.map((name) => ({ name, type: "text", length: 40 })),
  })),
});

/** The configuration document that maps them. */
export const documentOf = (lanes: readonly Lane[]): object => ({
  version: 1,
  mappings: lanes.map(({ object, pollingSeconds, policy, check }) => ({
    object_name: object,
    config: {
      access: "read_write",
      sf_notify_enabled: false,
      sf_polling_seconds: pollingSeconds,
      fields: Object.fromEntries(["Name", ...HEAP_FIELDS].map((field) => [field, {}])),
      bridge: { conflict_policy: policy, check_before_save: check },
    },
  })),
});
