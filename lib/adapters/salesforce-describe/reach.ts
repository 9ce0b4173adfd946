import type { OrgReach } from "../../health/ports.ts";
import { guardedFetch } from "../salesforce/guarded-fetch.ts";

const DEADLINE_MILLISECONDS = 5000;

/** What was found may be this old: monitors of one workspace ask together. */
const FRESH_MILLISECONDS = 5000;

interface Found {
  readonly reachable: Promise<boolean>;
  readonly until: number;
}

/** Asks orgs for their list of versions, which needs no session and is not counted (reference salesforce.md 2.1). */
export function orgReach(now: () => Date): OrgReach {
  const found = new Map<string, Found>();
  return {
    isReachable: ({ instanceUrl }) => {
      const known = found.get(instanceUrl);
      if (known && known.until > now().getTime()) return known.reachable;
      const reachable = answers(instanceUrl);
      if (found.size >= 1000) found.clear();
      found.set(instanceUrl, { reachable, until: now().getTime() + FRESH_MILLISECONDS });
      return reachable;
    },
  };
}

async function answers(instanceUrl: string): Promise<boolean> {
  try {
    const response = await guardedFetch(`${instanceUrl.replace(/\/+$/, "")}/services/data`, {
      signal: AbortSignal.timeout(DEADLINE_MILLISECONDS),
    });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false; // unreachable, in whatever way, is what is asked here
  }
}
