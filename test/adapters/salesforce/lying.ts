import { afterAll, beforeAll } from "vitest";
import { connectOrg } from "../../../lib/adapters/salesforce/connect-org.ts";
import { SalesforceRefusal } from "../../../lib/model/change/refusal.ts";
import { type LyingOrg, startLyingOrg } from "../../support/doubles/lying-org.ts";
import { engineCalls, orgSessions } from "../../support/doubles/org-calls.ts";

/** The org of the running file, which answers all calls alike. */
export let org: LyingOrg;

/** Gives the tests of a file one such org. */
export function aLyingOrg(): void {
  beforeAll(async () => {
    org = await startLyingOrg();
  });
  afterAll(() => org[Symbol.asyncDispose]());
}

/** A new client of it. */
export const salesforce = () => connectOrg(orgSessions(org.url, "token"), new AbortController().signal);

/** Its calls, each by a client of its own. */
export const engine = engineCalls(salesforce);

/** Why the call was refused. */
export async function refusalOf(work: Promise<unknown>): Promise<SalesforceRefusal["refusal"]> {
  const ended = await work.catch((thrown: unknown) => thrown);
  if (!(ended instanceof SalesforceRefusal)) throw new Error(`it was not refused, but: ${String(ended)}`);
  return ended.refusal;
}
