import { setTimeout as pause } from "node:timers/promises";
import { barredFromSoap, newestCommonVersion } from "../../../model/api-version.ts";
import { SalesforceRefusal } from "../../../model/change/refusal.ts";
import { foreignOrigin, orgOrigin } from "../../../model/workspace/org-origin.ts";
import { formerWriters, type SalesforceConnection } from "../../../model/workspace/workspace.ts";
import type { ConnectionStore, KeptConnection, Sessions } from "../../../sync/ports/session-ports.ts";
import { retry } from "../../retry.ts";
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
    const kept = await read();
    if (kept.connection.accessToken !== null && kept.connection.accessToken !== refusedToken) return kept;
    const at = now();
    if (await connections.claimRenewal(workspaceId, kept, at, new Date(at.getTime() + CLAIM_SECONDS * 1000))) {
      try {
        await renewAndKeep(connections, workspaceId, kept, at);
      } catch (error) {
        // A renewal that took longer than its claim may find its refresh token used up: by the one that replaced it.
        if ((await read()).version === kept.version) throw error;
      }
      const { connection, version } = await read();
      if (barredFromSoap(connection) !== null)
        await connections.keep(workspaceId, version, await withNewest(connection));
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

/** An org that rotates refresh tokens has ended the previous one with its answer: the new one is kept before anything else. */
async function renewAndKeep(
  connections: ConnectionStore,
  workspaceId: string,
  { connection, version, renewalUntil }: KeptConnection,
  at: Date,
): Promise<void> {
  const wasLost = renewalUntil !== null && renewalUntil <= at;
  try {
    const granted = await renewed(connection, at);
    const keep = () => connections.keep(workspaceId, version, granted);
    await retry(KEEP_ATTEMPTS, () => true, keep);
  } catch (error) {
    const isAnswered = error instanceof SalesforceRefusal && !LOST.test(error.refusal.code);
    await connections.abandonRenewal(workspaceId, version, isAnswered && !wasLost ? null : at);
    throw isAnswered ? withCause(error, connection, wasLost) : error;
  }
}

const KEEP_ATTEMPTS = 3;

/** Behind these the org may have given a session. */
const LOST = /^(?:ABORTED|BROKEN_ANSWER|HTTP_5\d\d|NOT_SALESFORCE|TIMEOUT)$/;

/** The refusal of a refresh token with what is known of how it ended. */
function withCause(error: SalesforceRefusal, { credentials }: SalesforceConnection, wasLost: boolean) {
  if (credentials.kind !== "refresh_token" || !/expired access\/refresh token/.test(error.refusal.message))
    return error;
  const { rotatedAt } = credentials;
  const used = `used by another client, such as a second deployment, since Salesforce rotated it at ${rotatedAt}`;
  const lost = "an earlier renewal broke off, and its new refresh token is lost";
  if (!wasLost && rotatedAt === undefined) return error;
  const message = `${error.refusal.message} (${wasLost ? lost : used})`;
  return new SalesforceRefusal({ ...error.refusal, message }, error);
}

async function renewed(connection: SalesforceConnection, at: Date): Promise<SalesforceConnection> {
  const { accessToken, userId, organizationId, credentials, ...granted } = await requestToken(connection, at);
  const instanceUrl = orgOrigin(connection.loginUrl, granted.instanceUrl);
  if (instanceUrl === null) throw refused("FOREIGN_INSTANCE", foreignOrigin(connection.loginUrl));
  const writer = userId ?? connection.userId;
  return {
    ...connection,
    accessToken,
    instanceUrl,
    userId: writer,
    formerUserIds: formerWriters(connection, writer),
    organizationId: organizationId ?? connection.organizationId,
    credentials,
  };
}

/** In the newest API version that both sides know; in the previous one while the org names none. */
async function withNewest(connection: SalesforceConnection): Promise<SalesforceConnection> {
  const versions = await orgLogin.versions(connection.instanceUrl).catch(() => []);
  return { ...connection, apiVersion: newestCommonVersion(versions) ?? connection.apiVersion };
}

function refused(code: string, message: string): SalesforceRefusal {
  return new SalesforceRefusal({ kind: "session", code, message, mayHaveRun: false });
}
