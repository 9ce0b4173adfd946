import { counted, type OrgNeeds, throwFailure } from "../describe/connected-org.ts";
import { readingCalls } from "./read-records.ts";

/** Reads the record that a query by id finds, numbers as digits; null: the org shows none. Its refusals become failures. */
export const recordReader =
  (needs: OrgNeeds) =>
  (workspaceId: string, soql: string): Promise<Readonly<Record<string, unknown>> | null> =>
    counted(needs, workspaceId, async (client) => (await readingCalls(client).query(soql)).records[0] ?? null).catch(
      throwFailure,
    );
