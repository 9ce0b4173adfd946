import type { PushOutcome } from "../../../sync/ports/push-ports.ts";
import type { Claimed } from "./claim.ts";

/** The changes that a store's caller has claimed and neither settled nor given back. */
export interface Claims {
  add(claimed: Claimed): void;
  /** The claims all of whose changes are among these, or were settled or given back before. */
  handledWith(ids: readonly number[]): readonly string[];
  /** The caller has none of these any more: what they ended as is committed. */
  giveBack(ids: readonly number[]): void;
  /** The version of an outcome's row when all that waits of it was claimed; null: it ends less, or is unknown. */
  versionOf(outcome: PushOutcome): string | null;
}

interface Held {
  readonly claimId: string;
  readonly row: { readonly version: string | null; changes: number };
}

export function createClaims(): Claims {
  const held = new Map<number, Held>();
  /** How many changes of each claim are held. */
  const left = new Map<string, number>();
  const drop = (id: number) => {
    const claimId = held.get(id)?.claimId;
    if (claimId === undefined) return;
    held.delete(id);
    left.set(claimId, (left.get(claimId) ?? 0) - 1);
  };
  return {
    add({ changes, claimId, versions }) {
      const rows = new Map<number, Held["row"]>();
      for (const { id, recordId } of changes) {
        const row = rows.get(recordId) ?? { version: versions.get(recordId) ?? null, changes: 0 };
        row.changes += 1;
        rows.set(recordId, row);
        drop(id);
        held.set(id, { claimId, row });
      }
      left.set(claimId, changes.length);
    },
    handledWith(ids) {
      const among = new Map<string, number>();
      for (const id of ids) {
        const claimId = held.get(id)?.claimId;
        if (claimId !== undefined) among.set(claimId, (among.get(claimId) ?? 0) + 1);
      }
      return [...among].flatMap(([claimId, count]) => (count === left.get(claimId) ? [claimId] : []));
    },
    giveBack(ids) {
      for (const id of ids) drop(id);
    },
    versionOf({ changeIds }) {
      const [row, ...others] = changeIds.map((id) => held.get(id)?.row);
      return row?.changes === changeIds.length && others.every((other) => other === row) ? row.version : null;
    },
  };
}
