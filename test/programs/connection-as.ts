import type { Org } from "../../lib/local/org/start-org.ts";
import type { SalesforceConnection } from "../../lib/model/workspace/workspace.ts";
import type { OrgUser } from "../support/clients/org-user.ts";

/** How Bridge is connected to an org as one of its users, by password; without a session it logs in. */
export function connectionAs(
  { url, organizationId, clientId, clientSecret }: Omit<Org, "close">,
  { userId, username, password }: Pick<OrgUser, "userId" | "username" | "password">,
  accessToken: string | null = null,
): SalesforceConnection {
  return {
    ...{ loginUrl: url, instanceUrl: url, organizationId, userId, formerUserIds: [], apiVersion: "66.0", accessToken },
    credentials: { kind: "password", clientId, clientSecret, username, password },
  };
}
