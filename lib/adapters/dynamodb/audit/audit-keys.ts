import type { AuditFilter } from "../../../audit/ports.ts";
import type { AuditEntry } from "../../../model/workspace/audit.ts";

/** Sort key of the item that counts a filter key's entries. */
export const COUNTER = "counter";

/**
 * The partition of one combination of filters. Each entry is kept once per combination under a dense sequence number,
 * so that a total is one counter and a page at any offset is one range of numbers. No index does it: DynamoDB adds no
 * local one to a table that exists, and reads a global one late. Versions since 0.2 read and number these partitions.
 */
export function partition({ workspaceId, actor, action }: AuditFilter): string {
  const filters = [
    ...(action === null ? [] : [`action#${encodeURIComponent(action)}`]),
    ...(actor === null ? [] : [`actor#${encodeURIComponent(actor)}`]),
  ];
  return [workspaceId, ...filters].join("#");
}

/** The partitions that hold an entry. */
export const partitionsOf = ({ workspaceId, ...entry }: AuditEntry): readonly string[] =>
  [null, entry.action].flatMap((action) =>
    [null, entry.actor].map((actor) => partition({ workspaceId, actor, action })),
  );

/** The entry with its numbers in its id, so that lists continue behind it without a look-up: `aud_4Fz….2s.1.k.1`. */
export function placedEntry(entry: AuditEntry, placeIn: (pk: string) => number): AuditEntry {
  const places = partitionsOf(entry).map((pk) => placeIn(pk).toString(36));
  return { ...entry, id: [entry.id, ...places].join(".") };
}

/** The number of an entry in the partition of a filter, as its id says it; null: one of a version that wrote none. */
export function placeOfId(id: string, { actor, action }: AuditFilter): number | null {
  const places = /^aud_\w+((?:\.[0-9a-z]{1,9}){4})$/.exec(id)?.[1]?.split(".") ?? [];
  const place = places[1 + (actor === null ? 0 : 1) + (action === null ? 0 : 2)];
  return place === undefined ? null : parseInt(place, 36);
}

/** A sequence number as a sort key; numbers begin at 1. */
export const sequenceKey = (sequence: number): string => String(sequence).padStart(12, "0");
