import { setTimeout as pause } from "node:timers/promises";
import { barredFromSoap, newestCommonVersion } from "../../../model/api-version.ts";
import { SalesforceRefusal } from "../../../model/change/refusal.ts";
import { foreignOrigin, orgOrigin } from "../../../model/workspace/org-origin.ts";
import { formerWriters, type SalesforceConnection } from "../../../model/workspace/workspace.ts";
import type { ConnectionStore, KeptConnection, Sessions } from "../../../sync/ports/session-ports.ts";
import { orgLogin } from "./log-in.ts";
import { requestToken } from "./request-token.ts";

/** A renewal that has not ended by then is given up by the others. */
const CLAIM_SECONDS = 30;

/** While another invocation renews, its result is looked for this often. */
const LOOK_AGAIN_MILLISECONDS = 250;

interface Needs {
  readonly connections: ConnectionStore;
  readonly now: () => Date;
}

/** Sessions of one workspace. Within a process calls share one reading and one renewal, between processes the store's claim. */
export function sessionsOf(needs: Needs, workspaceId: string): Sessions {
  let kept: KeptConnection | null = null;
  let reading: Promise<KeptConnection> | null = null;
  let renewing: Promise<KeptConnection> | null = null;

  const read = async (): Promise<KeptConnection> => {
    kept = await needs.connections.read(workspaceId);
    if (kept === null) throw refused("NOT_CONNECTED", `workspace ${workspaceId} is not connected to Salesforce`);
    return kept;
  };

  const readOnce = () => {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  };

  return {
    current: async () => (kept ?? (await readOnce())).connection,
    renew: async (token) => {
      renewing ??= renewOnce(needs, workspaceId, token, read).finally(() => {
        renewing = null;
      });
      kept = await renewing;
      return kept.connection;
    },
  };
}

async function renewOnce(
  { connections, now }: Needs,
  workspaceId: string,
  refusedToken: string | null,
  read: () => Promise<KeptConnection>,
): Promise<KeptConnection> {
  const givenUpAt = now().getTime() + CLAIM_SECONDS * 1000;
  for (;;) {
    const { connection, version } = await read();
    if (connection.accessToken !== null && connection.accessToken !== refusedToken) return { connection, version };
    const until = new Date(now().getTime() + CLAIM_SECONDS * 1000);
    if (await connections.claimRenewal(workspaceId, version, now(), until)) {
      await renewAndKeep(connections, workspaceId, { connection, version }, now());
      return read();
    }
    if (now().getTime() > givenUpAt) {
      throw new SalesforceRefusal({
        kind: "transient",
        code: "RENEWAL_BUSY",
        message: `another invocation has been renewing the session of workspace ${workspaceId} for ${CLAIM_SECONDS} s`,
        mayHaveRun: false,
      });
    }
    await pause(LOOK_AGAIN_MILLISECONDS);
  }
}

async function renewAndKeep(
  connections: ConnectionStore,
  workspaceId: string,
  { connection, version }: KeptConnection,
  at: Date,
): Promise<void> {
  try {
    await connections.keep(workspaceId, version, await renewed(connection, at));
  } catch (error) {
    await connections.abandonRenewal(workspaceId, version);
    throw error;
  }
}

async function renewed(connection: SalesforceConnection, at: Date): Promise<SalesforceConnection> {
  const { accessToken, userId, organizationId, credentials, ...granted } = await requestToken(connection, at);
  const instanceUrl = orgOrigin(connection.loginUrl, granted.instanceUrl);
  if (instanceUrl === null) throw refused("FOREIGN_INSTANCE", foreignOrigin(connection.loginUrl));
  const writer = userId ?? connection.userId;
  const { apiVersion } = connection;
  const isBarred = barredFromSoap({ accessToken, apiVersion }) !== null;
  return {
    ...connection,
    apiVersion: isBarred ? await newestOr(apiVersion, instanceUrl) : apiVersion,
    accessToken,
    instanceUrl,
    userId: writer,
    formerUserIds: formerWriters(connection, writer),
    organizationId: organizationId ?? connection.organizationId,
    credentials,
  };
}

/** The newest version that both sides know; the previous one while the org names none. */
async function newestOr(before: string, instanceUrl: string): Promise<string> {
  const versions = await orgLogin.versions(instanceUrl).catch(() => []);
  return newestCommonVersion(versions) ?? before;
}

function refused(code: string, message: string): SalesforceRefusal {
  return new SalesforceRefusal({ kind: "session", code, message, mayHaveRun: false });
}
