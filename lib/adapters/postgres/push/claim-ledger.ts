import type { ClaimedChange } from "../../../model/change/change.ts";
import type { PushOutcome } from "../../../sync/cycle/ports.ts";
import type { Taken } from "../read-changes.ts";
import type { Claimed, KnownRow } from "./claim.ts";

/** The changes that a store's caller has in his hands: how they were claimed, and of which rows, as they were then. */
export interface Claims {
  /** What was claimed just now, without what the caller has already: changes that are only read can be found again. */
  add(claimed: Claimed): readonly ClaimedChange[];
  /** Those that were only read, which are NEW still. */
  onlyRead(): readonly number[];
  /** Those of these changes that were only read, with what they were read as; they count as PENDING from now on. */
  take(ids: readonly number[], batchId: string | null): Taken | null;
  /** The claims and batches all of whose changes are among these, or were given back before. */
  handledWith(ids: readonly number[]): readonly string[];
  /** Those of these changes that are PENDING. */
  pendingAmong(ids: readonly number[]): readonly number[];
  /** The caller has none of these any more: what they ended as is committed. */
  giveBack(ids: readonly number[]): void;
  /** The row of an outcome, as it was when all that waits of it was claimed; null: the outcome ends less, or nobody knows. */
  rowOf(outcome: PushOutcome): KnownRow | null;
}

interface Hold {
  /** Null: the change is PENDING. */
  versions: readonly string[] | null;
  /** The claim or batch that names it as PENDING. */
  namedBy: string | null;
  readonly row: { readonly known: KnownRow | null; changes: number };
}

export function createClaims(): Claims {
  const held = new Map<number, Hold>();
  /** How many changes claims and batches name that are held. */
  const named = new Map<string, number>();
  const count = (by: string | null, more: number) => {
    if (by !== null) named.set(by, (named.get(by) ?? 0) + more);
  };
  const name = (hold: Hold, by: string | null) => {
    count(hold.namedBy, -1);
    count(by, 1);
    hold.namedBy = by;
  };
  return {
    add({ changes, claimId, versions, knownRows }) {
      const added = changes.filter(({ id }) => !held.get(id)?.versions);
      const rows = new Map<number, Hold["row"]>();
      for (const { id, recordId } of added) {
        const row = rows.get(recordId) ?? { known: knownRows.get(recordId) ?? null, changes: 0 };
        row.changes += 1;
        rows.set(recordId, row);
        const hold: Hold = { versions, namedBy: held.get(id)?.namedBy ?? null, row };
        name(hold, versions ? null : claimId);
        held.set(id, hold);
      }
      return added;
    },
    onlyRead: () => [...held].flatMap(([id, { versions }]) => (versions ? [id] : [])),
    take(ids, batchId) {
      const versions = new Set<string>();
      const taken = ids.filter((id) => {
        const hold = held.get(id);
        if (!hold?.versions) return false;
        for (const version of hold.versions) versions.add(version);
        hold.versions = null;
        name(hold, batchId);
        return true;
      });
      return taken.length === 0 ? null : { ids: taken, versions: [...versions], batchId };
    },
    handledWith(ids) {
      const among = new Map<string, number>();
      for (const id of ids) {
        const by = held.get(id)?.namedBy;
        if (by) among.set(by, (among.get(by) ?? 0) + 1);
      }
      return [...among].flatMap(([by, count]) => (count === named.get(by) ? [by] : []));
    },
    pendingAmong: (ids) => ids.filter((id) => !held.get(id)?.versions),
    giveBack(ids) {
      for (const id of ids) {
        const hold = held.get(id);
        if (hold) name(hold, null);
        held.delete(id);
      }
    },
    rowOf({ changeIds }) {
      const [row, ...others] = changeIds.map((id) => held.get(id)?.row);
      return row?.changes === changeIds.length && others.every((other) => other === row) ? row.known : null;
    },
  };
}
