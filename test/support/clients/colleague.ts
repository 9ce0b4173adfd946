import type { SalesforceConnection } from "../../../lib/model/workspace/workspace.ts";
import { askRest, signIn } from "./org-rest.ts";

/** A REST call of a user who works in the org; what is not well rejects. */
export type Colleague = (method: string, path: string, body?: object) => Promise<Record<string, unknown>>;

/** Signs in a user other than the service's. */
export async function openColleague({ loginUrl: url, credentials }: SalesforceConnection): Promise<Colleague> {
  if (credentials.kind !== "password") throw new Error("the local org is connected by password");
  const accessToken = await signIn(url, credentials);
  return async (method, path, body) =>
    ((await askRest({ url, accessToken }, method, path, body)) ?? {}) as Record<string, unknown>;
}
