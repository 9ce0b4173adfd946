/** So many deletes of a table pass in a rolling hour whatever its size. */
const ALWAYS_ALLOWED = 100;
const ALLOWED_SHARE = 0.1;

/** How many deletes of a table with so many rows may pass in a rolling hour, on either side (design section 5). */
export const allowedDeletes = (tableRows: number): number =>
  Math.max(ALWAYS_ALLOWED, Math.floor(tableRows * ALLOWED_SHARE));
