import type { SealedWorkspace } from "../access/ports.ts";
import { barredFromSoap, JWT_REMEDY } from "../model/api-version.ts";
import { SalesforceRefusal } from "../model/change/refusal.ts";
import { Failure } from "../model/failure.ts";
import { remedyFor } from "../model/refusal-remedies.ts";
import type { SalesforceConnection } from "../model/workspace/workspace.ts";
import { saidBy } from "./explain-refusal.ts";
import { type Checked, type Finding, judged, together } from "./findings.ts";

/** What the org says of its API calls in the last 24 hours, at its own time. */
export interface CallUsage {
  readonly used: number;
  readonly limit: number;
  readonly at: Date;
  /** The connection with the session that was asked. */
  readonly connection: SalesforceConnection;
}

interface Needs {
  /** One API call. Rejects with `SalesforceRefusal`. */
  readonly readUsage: (workspaceId: string) => Promise<CallUsage>;
  readonly now: () => Date;
}

/** Share of the org's calls from which pulls are stretched. */
const STRETCHED_FROM = 0.7;

const MAX_CLOCK_SECONDS = 60;

/** Looks at the org of a workspace as it is connected: session, whether it can save, allowance, clock. Costs one API call. */
export async function testSalesforce(needs: Needs, workspace: SealedWorkspace): Promise<Checked> {
  const { salesforce } = await workspace.open();
  if (salesforce === null) {
    throw new Failure("CONFLICT", "this workspace is not connected to Salesforce yet: connect an org first");
  }
  try {
    const usage = await needs.readUsage(workspace.id);
    const { organizationId, instanceUrl, apiVersion } = usage.connection;
    return together([
      judged("session", true, `connected to org ${organizationId} at ${instanceUrl}, API ${apiVersion}`, ""),
      savingFinding(usage.connection),
      allowanceFinding(usage),
      clockFinding(usage.at, needs.now()),
    ]);
  } catch (error) {
    if (!(error instanceof SalesforceRefusal)) throw error;
    return together([judged("session", false, saidBy(error.refusal), remedyFor(error.refusal))]);
  }
}

function savingFinding(connection: SalesforceConnection): Finding {
  const barred = barredFromSoap(connection);
  const taken = `records can be saved with the app's tokens in API ${connection.apiVersion}`;
  return judged("saving", barred === null, barred ?? taken, JWT_REMEDY);
}

function allowanceFinding({ used, limit }: CallUsage): Finding {
  const message = `${used} of ${limit} API calls of the last 24 hours are used`;
  return judged("allowance", used < limit * STRETCHED_FROM, message, "raise sf_polling_seconds, or buy calls");
}

function clockFinding(orgTime: Date, now: Date): Finding {
  const apart = Math.round(Math.abs(orgTime.getTime() - now.getTime()) / 1000);
  const message = `the service's clock and the org's differ by ${apart} s`;
  return judged("clock", apart <= MAX_CLOCK_SECONDS, message, "set the service's clock by NTP");
}
