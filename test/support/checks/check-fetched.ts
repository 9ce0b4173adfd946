import { checkDescribed } from "./described-api.ts";

/**
 * Judges every answer of a Bridge that this process fetches from now on by the API's description, also those that the
 * command line asks for itself. What is wrong is reported by `wrongAnswers`, for a client may swallow what its fetch throws.
 */
export function checkFetched(): void {
  if (isWatching) return;
  isWatching = true;
  const fetched = globalThis.fetch;
  globalThis.fetch = async (...request) => {
    const response = await fetched(...request);
    const { pathname, search } = new URL(response.url || "http://nowhere/");
    // The limit's headers are on every answer below the prefix, and distinguish a Bridge from its replacement.
    if (pathname.startsWith("/api/v1/t/") && response.headers.has("ratelimit")) {
      judging.push(judge(methodOf(request), pathname + search, response.clone()));
    }
    return response;
  };
}

/** What was wrong with the answers so far, one sentence each, and forgets it. */
export async function wrongAnswers(): Promise<readonly string[]> {
  await Promise.all(judging.splice(0));
  return wrong.splice(0);
}

let isWatching = false;
const judging: Promise<void>[] = [];
const wrong: string[] = [];

async function judge(method: string, target: string, response: Response): Promise<void> {
  try {
    checkDescribed(method, target, {
      status: response.status,
      contentType: response.headers.get("content-type"),
      allow: response.headers.get("allow"),
      text: await response.text(),
    });
  } catch (error) {
    wrong.push((error as Error).message);
  }
}

function methodOf([asked, options]: Parameters<typeof fetch>): string {
  return options?.method ?? (asked instanceof Request ? asked.method : "GET");
}
