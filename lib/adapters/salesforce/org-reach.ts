import type { OrgReach } from "../../health/ports.ts";
import { createCache } from "../../model/cache.ts";
import { asText, exchange } from "./exchange.ts";

const DEADLINE_MILLISECONDS = 5000;

/** What was found may be this old: monitors of one workspace ask together. */
const FRESH_MILLISECONDS = 5000;

/** Asks orgs for their list of versions, which needs no session and is not counted (salesforce-facts 2.1). */
export function orgReach(now: () => Date): OrgReach {
  const cached = createCache<boolean>({ ttl: { milliseconds: FRESH_MILLISECONDS, now } });
  return { isReachable: ({ instanceUrl }) => cached(instanceUrl, () => answers(instanceUrl)) };
}

/** Unreachable, in whatever way, is what is asked here. */
const answers = (url: string): Promise<boolean> =>
  exchange({ url }, { method: "GET", path: "/services/data", deadline: DEADLINE_MILLISECONDS, reads: asText }).then(
    () => true,
    () => false,
  );
