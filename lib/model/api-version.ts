import type { SalesforceConnection } from "./workspace/workspace.ts";

/** The newest API version that this service was proven with. */
const NEWEST = 68;

/** SOAP takes JSON Web Tokens as sessions from this version on (Salesforce, SOAP API). REST takes them in all. */
const JWT_IN_SOAP = 68;

/** What an operator does about a session that is barred from SOAP. */
export const JWT_REMEDY =
  "switch off 'Issue JSON Web Token (JWT)-based access tokens' in the app's OAuth settings, or wait until the org " +
  `speaks API version ${JWT_IN_SOAP}.0; then connect the workspace to Salesforce again`;

/** The newest version, `68.0`, that the service and an org know which speaks `versions`; null: there is none. */
export function newestCommonVersion(versions: readonly string[]): string | null {
  const known = versions.map(Number).filter((version) => version <= NEWEST);
  return known.length === 0 ? null : Math.max(...known).toFixed(1);
}

type Session = Pick<SalesforceConnection, "accessToken" | "apiVersion">;

/** Why SOAP refuses a session, so that no record can be saved by it; null when it takes it. */
export function barredFromSoap({ accessToken, apiVersion }: Session): string | null {
  const isJwt = /^[\w-]+\.[\w-]+\.[\w-]+$/.test(accessToken ?? "");
  if (!isJwt || Number(apiVersion) >= JWT_IN_SOAP) return null;
  return (
    `the app issues JSON Web Tokens, with which no record can be saved before API version ${JWT_IN_SOAP}.0, ` +
    `and the connection uses ${apiVersion}`
  );
}
