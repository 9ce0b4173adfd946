import { Refusal } from "../refusal.ts";

/** What the org as a whole does not do for a while; the controls change it, as Salesforce's maintenance and its records do. */
export interface Mode {
  /** It takes no writes, as during an instance's maintenance. */
  readOnly: boolean;
  /** It has no storage left: what needs none of it is saved, updates and deletes. */
  storageFull: boolean;
}

/** The mode of an unchanged org. */
export const usualMode = (): Mode => ({ readOnly: false, storageFull: false });

/** Refuses a save as the mode does, in Salesforce's words. */
export function refuseByMode({ readOnly, storageFull }: Mode, creates: boolean): void {
  if (readOnly) {
    const message = "We can't save your changes because Salesforce is temporarily in read-only mode for maintenance.";
    throw new Refusal("INSERT_UPDATE_DELETE_NOT_ALLOWED_DURING_MAINTENANCE", message);
  }
  if (storageFull && creates) throw new Refusal("STORAGE_LIMIT_EXCEEDED", "storage limit exceeded");
}
