import { SalesforceRefusal } from "../../model/refusal.ts";
import type { SalesforceConnection } from "../../model/workspace.ts";
import type { Sessions } from "../../sync/sessions.ts";
import { guardedFetch } from "../salesforce/guarded-fetch.ts";
import { lost } from "../salesforce/lost-request.ts";
import { refusalIn } from "../salesforce/refusal-in.ts";
import { jsonOrRefusal } from "../salesforce/web-page.ts";

const DEADLINE_MILLISECONDS = 15_000;

/** What the org answered, and its time by the answer's `Date`. */
interface Answered {
  readonly content: unknown;
  readonly at: Date;
}

/**
 * One GET below `/services/data/v…`, its JSON; a session that is missing or has ended is renewed once, and what is
 * refused for it is not counted by the org.
 */
export async function ask(sessions: Sessions, path: string): Promise<unknown> {
  return (await askDated(sessions, path)).content;
}

/** The same, with the org's time. */
export async function askDated(sessions: Sessions, path: string): Promise<Answered> {
  const connection = await sessions.current();
  const { accessToken } = connection;
  if (accessToken === null) return get(await sessions.renew(null), path);
  try {
    return await get(connection, path);
  } catch (error) {
    const hasEnded = error instanceof SalesforceRefusal && error.refusal.code === "INVALID_SESSION_ID";
    if (!hasEnded) throw error;
    return get(await sessions.renew(accessToken), path);
  }
}

async function get({ instanceUrl, apiVersion, accessToken }: SalesforceConnection, path: string): Promise<Answered> {
  const url = `${instanceUrl.replace(/\/+$/, "")}/services/data/v${apiVersion}${path}`;
  const { status, body, date } = await guardedFetch(url, {
    headers: { authorization: `Bearer ${accessToken}`, accept: "application/json" },
    signal: AbortSignal.timeout(DEADLINE_MILLISECONDS),
  })
    .then(async (response) => ({
      status: response.status,
      body: await response.text(),
      date: response.headers.get("date") ?? "",
    }))
    .catch((error: unknown) => {
      throw lost(error);
    });
  if (status >= 300) throw refusalIn(status, body);
  return { content: jsonOrRefusal(url, body), at: new Date(date) };
}
