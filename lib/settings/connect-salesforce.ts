import { createHash, randomBytes } from "node:crypto";
import type { Acting } from "../access/ports.ts";
import type { Mappings } from "../config/ports.ts";
import { barredFromSoap, JWT_REMEDY, newestCommonVersion } from "../model/api-version.ts";
import { SalesforceRefusal } from "../model/change/refusal.ts";
import { Failure } from "../model/failure.ts";
import { auditEntry } from "../model/workspace/audit.ts";
import { foreignOrigin, orgOrigin } from "../model/workspace/org-origin.ts";
import { formerWriters, type SalesforceConnection, type SalesforceCredentials } from "../model/workspace/workspace.ts";
import type { UrlGuard } from "../webhooks/ports.ts";
import type { Connected } from "./connection-view.ts";
import { explainRefusal } from "./explain-refusal.ts";
import type { ConnectionSettings, Identity, OrgLogin, PendingAuthorization, Session } from "./ports.ts";

interface Needs {
  readonly login: OrgLogin;
  readonly hostGuard: UrlGuard;
  readonly connections: ConnectionSettings;
  readonly mappings: Pick<Mappings, "list">;
}

/** How long a browser may take. */
const SIGN_IN_MINUTES = 15;

/** Connects an org by credentials for machines, after a login with them. */
export async function connectByCredentials(
  needs: Needs,
  who: Acting,
  loginUrl: string,
  credentials: SalesforceCredentials,
): Promise<Connected> {
  await guard(needs.hostGuard, loginUrl, "body.login_url");
  const session = await asked("body.credentials", () => needs.login.logIn(loginUrl, credentials, who.at));
  return keep(needs, who, loginUrl, session.credentials, session);
}

/** Begins a sign-in by browser: where to send it, and the word by which its return is known. */
export async function beginSignIn(
  needs: Pick<Needs, "hostGuard" | "connections">,
  { workspace, at }: Acting,
  wanted: Omit<PendingAuthorization, "codeVerifier">,
): Promise<{ readonly authorizeUrl: string; readonly state: string }> {
  await guard(needs.hostGuard, wanted.loginUrl, "body.login_url");
  const codeVerifier = randomBytes(48).toString("base64url");
  const state = randomBytes(24).toString("base64url");
  const until = new Date(at.getTime() + SIGN_IN_MINUTES * 60_000);
  await needs.connections.keepAuthorization(workspace.id, state, { ...wanted, codeVerifier }, until);
  const url = new URL("/services/oauth2/authorize", wanted.loginUrl);
  url.search = new URLSearchParams({
    response_type: "code",
    client_id: wanted.clientId,
    redirect_uri: wanted.redirectUri,
    scope: "api refresh_token",
    state,
    code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
    code_challenge_method: "S256",
  }).toString();
  return { authorizeUrl: url.href, state };
}

/** Ends a sign-in with the code that the browser brought. It works once. */
export async function completeSignIn(needs: Needs, who: Acting, state: string, code: string): Promise<Connected> {
  const pending = await needs.connections.takeAuthorization(who.workspace.id, state, who.at);
  if (pending === null) {
    throw new Failure("NOT_FOUND", "no sign-in waits for this state: it was used, or is too old. Begin again");
  }
  const session = await asked("body.code", () => needs.login.exchangeCode(pending, code));
  if (session.refreshToken === null) {
    throw refused("body.code", "the org gave no refresh token: give the app the scope 'refresh_token, offline_access'");
  }
  const { clientId, clientSecret, loginUrl } = pending;
  const { refreshToken } = session;
  return keep(needs, who, loginUrl, { kind: "refresh_token", clientId, clientSecret, refreshToken }, session);
}

/** Keeps a connection once the instance has proven to be the org's. */
async function keep(
  needs: Needs,
  who: Acting,
  loginUrl: string,
  credentials: SalesforceCredentials,
  session: Session,
): Promise<Connected> {
  const instanceUrl = orgOrigin(loginUrl, session.instanceUrl);
  if (instanceUrl === null) throw refused("body.login_url", foreignOrigin(loginUrl));
  await guard(needs.hostGuard, instanceUrl, "body.login_url");
  const at = { ...session, instanceUrl };
  const identity = await asked("body.login_url", () => needs.login.identify(at));
  const apiVersion = newest(await asked("body.login_url", () => needs.login.versions(instanceUrl)));
  const before = await ofSameOrg(needs, who, identity);
  const { username, ...user } = identity;
  const formerUserIds = before ? formerWriters(before, user.userId) : [];
  const { accessToken } = session;
  const barred = barredFromSoap({ accessToken, apiVersion });
  if (barred !== null) throw refused("body.login_url", `${barred}: ${JWT_REMEDY}`);
  const connection = { loginUrl, instanceUrl, ...user, formerUserIds, apiVersion, credentials, accessToken };
  await needs.connections.setSalesforce(who.workspace.id, connection, entryOf(who, connection, username));
  return { organizationId: user.organizationId, instanceUrl, username, apiVersion };
}

/** The connection so far, if it is to this org. The rows of an org's records mean nothing in another one. */
async function ofSameOrg(
  { mappings }: Needs,
  { workspace }: Acting,
  { organizationId }: Identity,
): Promise<SalesforceConnection | null> {
  const { salesforce } = await workspace.open();
  if (salesforce === null || salesforce.organizationId.slice(0, 15) === organizationId.slice(0, 15)) return salesforce;
  const listing = await mappings.list(workspace.id);
  if (listing.mappings.length === 0) return null;
  throw new Failure(
    "CONFLICT",
    `this workspace's rows belong to org ${salesforce.organizationId}, this is ${organizationId}: delete its mappings first, or connect another workspace`,
  );
}

function entryOf({ workspace, actor, at }: Acting, connection: SalesforceConnection, username: string) {
  const { organizationId, instanceUrl, credentials } = connection;
  const detail = { organization_id: organizationId, instance_url: instanceUrl, username, flow: credentials.kind };
  const by = { workspaceId: workspace.id, actor, at };
  return auditEntry(by, "connection.salesforce_authorized", workspace.id, detail);
}

async function guard(hostGuard: UrlGuard, url: string, path: string): Promise<void> {
  const refusal = await hostGuard(url);
  if (refusal !== null) throw refused(path, `the URL ${refusal}`);
}

/** What the org refuses, the caller must correct. */
async function asked<Answer>(path: string, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof SalesforceRefusal)) throw error;
    throw refused(path, explainRefusal(error.refusal));
  }
}

/** The newest version that both sides know. */
function newest(versions: readonly string[]): string {
  const version = newestCommonVersion(versions);
  if (version !== null) return version;
  throw new Failure("VALIDATION_ERROR", "the org speaks no API version that this service knows");
}

const refused = (path: string, message: string): Failure =>
  new Failure("VALIDATION_ERROR", message, { details: [{ path, message }] });
