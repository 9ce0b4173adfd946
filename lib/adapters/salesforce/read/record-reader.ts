import * as z from "zod/mini";
import { SalesforceRefusal } from "../../../model/change/refusal.ts";
import { judgedCount } from "../../../model/totals.ts";
import { call } from "../client.ts";
import { counted, type OrgNeeds, throwFailure } from "../describe/connected-org.ts";
import { asJson } from "../exchange.ts";
import { understand } from "../understand.ts";
import { readingCalls } from "./read-records.ts";

/** Reads the records that a query by ids finds, numbers as digits. Its refusals become failures. */
export const recordsReader =
  (needs: OrgNeeds) =>
  (workspaceId: string, soql: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    counted(needs, workspaceId, async (client) => (await readingCalls(client).query(soql)).records).catch(throwFailure);

/** A person waits for the number. */
const COUNT_MILLISECONDS = 10_000;

/** Counts the records of an object that meet a condition; null: Salesforce does not answer in time, or not this one. */
export const recordCounter =
  (needs: OrgNeeds) =>
  (workspaceId: string, object: string, condition: string): Promise<number | null> =>
    counted(needs, workspaceId, async (client) => {
      const path = `/query?q=${encodeURIComponent(`SELECT COUNT() FROM ${object} WHERE ${condition}`)}`;
      const { answer } = await call(client, { method: "GET", path, deadline: COUNT_MILLISECONDS, reads: asJson });
      return judgedCount(understand(total, answer, "a count").totalSize);
    }).catch((error: unknown) => (isUncounted(error) ? null : throwFailure(error)));

const total = z.object({ totalSize: z.number() });

const isUncounted = (error: unknown): boolean =>
  error instanceof SalesforceRefusal && !["session", "disabled", "limit"].includes(error.refusal.kind);
