import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OrgOptions, startOrg } from "../../../lib/local/org/start-org.ts";
import { request } from "../ask.ts";
import type { Door } from "./door.ts";

/** An embedded org of its own, whose simulation takes orders. End it with `close()`. */
export interface EmbeddedOrg {
  readonly door: Door;
  /** From now on this goes wrong (the org's README, Controls). */
  fail(fault: object): Promise<void>;
  close(): Promise<void>;
}

/** Starts one on a folder that is thrown away. */
export async function startEmbeddedOrg(options: Pick<OrgOptions, "definition"> = {}): Promise<EmbeddedOrg> {
  const dataDir = await mkdtemp(join(tmpdir(), "bridge-drill-"));
  const org = await startOrg({ ...options, dataDir, controls: true });
  const control = async (path: string, order: object) =>
    void (await request(`${org.url}/_sim/${path}`, org.accessToken, "POST", order));
  return {
    door: {
      url: org.url,
      token: org.accessToken,
      pass: (milliseconds) => control("clock", { advanceMilliseconds: milliseconds }),
    },
    fail: (fault) => control("faults", fault),
    close: async () => {
      await org.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
