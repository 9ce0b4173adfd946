import type { SealedWorkspace } from "../access/ports.ts";
import type { Mappings } from "../config/ports.ts";
import { barredFromSoap, JWT_REMEDY } from "../model/api-version.ts";
import { SalesforceRefusal } from "../model/change/refusal.ts";
import { Failure } from "../model/failure.ts";
import { pushes } from "../model/mapping/mapping.ts";
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

/** What an org says of saving records of an object; `refusal`: null where it is ready to save them. */
export interface SaveProbe {
  readonly object: string;
  readonly createable: boolean;
  readonly updateable: boolean;
  readonly refusal: string | null;
}

interface Needs {
  readonly mappings: Pick<Mappings, "list">;
  readonly probeSaves: (workspaceId: string, objects: readonly string[]) => Promise<readonly SaveProbe[]>;
  /** One API call. Rejects with `SalesforceRefusal`. */
  readonly readUsage: (workspaceId: string) => Promise<CallUsage>;
  readonly now: () => Date;
}

/** Share of the org's calls from which pulls are stretched. */
const STRETCHED_FROM = 0.7;

const MAX_CLOCK_SECONDS = 60;

/** Looks at the org of a workspace as it is connected: session, whether it can save, allowance, clock. Costs three API calls. */
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
      ...(await savingFindings(needs, workspace.id, usage.connection)),
      allowanceFinding(usage),
      clockFinding(usage.at, needs.now()),
    ]);
  } catch (error) {
    if (!(error instanceof SalesforceRefusal)) throw error;
    return together([judged("session", false, saidBy(error.refusal), remedyFor(error.refusal))]);
  }
}

/** Of each object that is written to; of none where the app's tokens do not let anything be saved. */
async function savingFindings({ mappings, probeSaves }: Needs, workspaceId: string, connection: SalesforceConnection) {
  const barred = barredFromSoap(connection);
  if (barred !== null) return [judged("saving", false, barred, JWT_REMEDY)];
  const written = (await mappings.list(workspaceId)).mappings.filter(
    ({ active, syncDirection }) => active && pushes(syncDirection),
  );
  const names = [...new Set(written.map(({ sfObject }) => sfObject))];
  const probes = names.length === 0 ? [] : await probeSaves(workspaceId, names);
  return probes.map(({ object: name, createable, updateable, refusal }) => {
    if (!createable || !updateable)
      return judged("saving", false, `the user may not create and update ${name}`, RIGHTS_REMEDY);
    const says =
      refusal === null
        ? `${name} can be saved: the user may, and Salesforce is ready`
        : `${name} cannot be saved: ${refusal}`;
    return judged("saving", refusal === null, says, "see what Salesforce says; rows wait until it saves again");
  });
}

const RIGHTS_REMEDY = "give the connected user Create and Edit of the object by a permission set";

function allowanceFinding({ used, limit }: CallUsage): Finding {
  const message = `${used} of ${limit} API calls of the last 24 hours are used`;
  return judged("allowance", used < limit * STRETCHED_FROM, message, "raise sf_polling_seconds, or buy calls");
}

function clockFinding(orgTime: Date, now: Date): Finding {
  const apart = Math.round(Math.abs(orgTime.getTime() - now.getTime()) / 1000);
  const message = `the service's clock and the org's differ by ${apart} s`;
  return judged("clock", apart <= MAX_CLOCK_SECONDS, message, "set the service's clock by NTP");
}
