import type * as Ways from "../../../lib/model/change/ways.ts";
import { isWholeGrid } from "../run/whole-grid.ts";

/** The fewest rows for which a Bulk API job costs fewer calls than SOAP. */
export const FEWEST_IN_PRODUCT = 2_201;

/** The fewest rows that `smallJobs` sends by a job: more than the 200 records that the org saves in one transaction. */
export const FEWEST = isWholeGrid ? FEWEST_IN_PRODUCT : 221;

/** `ways.ts` with jobs of a tenth of the rows, so that a test of jobs moves hundreds of rows, not thousands. */
export async function smallJobs(original: () => Promise<typeof Ways>): Promise<typeof Ways> {
  const ways = await original();
  if (isWholeGrid) return ways;
  return { ...ways, waysOf: (operation, writes) => ways.waysOf(operation, writes, (records) => records >= FEWEST) };
}
