import type { AuditFilter } from "../../../audit/ports.ts";

/** Sort key of the item that counts a filter key's entries. */
export const COUNTER = "counter";

/**
 * The partition of one combination of filters. Each entry is kept once per combination under a dense sequence number,
 * so that a total is one counter and a page at any offset is one range of numbers.
 */
export function partition({ workspaceId, actor, action }: AuditFilter): string {
  const filters = [
    ...(action === null ? [] : [`action#${encodeURIComponent(action)}`]),
    ...(actor === null ? [] : [`actor#${encodeURIComponent(actor)}`]),
  ];
  return [workspaceId, ...filters].join("#");
}

/** The partitions that hold an entry. */
export function partitionsOf(workspaceId: string, actor: string, action: string): readonly string[] {
  return [
    partition({ workspaceId, actor: null, action: null }),
    partition({ workspaceId, actor, action: null }),
    partition({ workspaceId, actor: null, action }),
    partition({ workspaceId, actor, action }),
  ];
}

/** A sequence number as a sort key; numbers begin at 1. */
export const sequenceKey = (sequence: number): string => String(sequence).padStart(12, "0");
