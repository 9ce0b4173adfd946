import { type Mapping, pulls } from "../mapping/mapping.ts";

/** So old may an answer of the org be that shows what a save would overwrite. */
const FRESH_MILLISECONDS = 2_000;

/** Whether what a push saves may overwrite what nothing has read: then it looks at the records first. */
export function checksBeforeSave({
  syncDirection,
  conflictPolicy,
  checkBeforeSave,
}: Pick<Mapping, "syncDirection" | "conflictPolicy" | "checkBeforeSave">): boolean {
  if (!pulls(syncDirection) || checkBeforeSave === "off") return false;
  return checkBeforeSave === "on" || conflictPolicy !== "postgres_wins";
}

/** Whether the records were looked at so lately (epoch milliseconds; 0: never) that another look would show the same. */
export const isChecked = (checkedAt: number, now: number): boolean => now - checkedAt < FRESH_MILLISECONDS;
