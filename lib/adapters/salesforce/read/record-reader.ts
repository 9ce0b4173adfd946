import { counted, type OrgNeeds, throwFailure } from "../describe/connected-org.ts";
import { readingCalls } from "./read-records.ts";

/** Reads the records that a query by ids finds, numbers as digits. Its refusals become failures. */
export const recordsReader =
  (needs: OrgNeeds) =>
  (workspaceId: string, soql: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    counted(needs, workspaceId, async (client) => (await readingCalls(client).query(soql)).records).catch(throwFailure);
