import type { OrgReach } from "../../health/ports.ts";

const DEADLINE_MILLISECONDS = 5000;

/** Asks for the list of versions, which needs no session and is not counted (reference salesforce.md 2.1). */
export const orgReach: OrgReach = {
  isReachable: async ({ instanceUrl }) => {
    try {
      const response = await fetch(`${instanceUrl.replace(/\/+$/, "")}/services/data`, {
        redirect: "manual",
        signal: AbortSignal.timeout(DEADLINE_MILLISECONDS),
      });
      await response.body?.cancel();
      return response.status === 200;
    } catch {
      return false; // unreachable, in whatever way, is what is asked here
    }
  },
};
