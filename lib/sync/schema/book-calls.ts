import type { TableShape } from "../../model/mapping/shape.ts";
import { LEASE_SECONDS } from "../lease/lease-guard.ts";
import type { Clock, Connections } from "../ports/cycle-ports.ts";

interface Needs {
  readonly connections: Pick<Connections, "openStore">;
  readonly clock: Clock;
}

interface Caller {
  readonly workspaceId: string;
  readonly mappingId: string;
  readonly configVersion: number;
}

/**
 * Calls that were sent for a mapping outside of its cycles count among its own, whose totals are in its database. Gives
 * the table as it is there; null: its long work is under way, or it has moved on.
 */
export async function bookCalls(
  { connections, clock }: Needs,
  { workspaceId, mappingId, configVersion }: Caller,
  apiCalls: Readonly<Record<string, number>>,
): Promise<TableShape | null> {
  const store = await connections.openStore(workspaceId);
  try {
    const owner = `provisioning ${clock.now()}`;
    const asked = { mappingId, configVersion, owner, slot: null, work: "load", leaseSeconds: LEASE_SECONDS } as const;
    const begun = await store.begin(asked);
    if (!begun.held) {
      await store.addCalls(mappingId, apiCalls);
      return null;
    }
    await store.finish(begun.lease, { marks: {}, pulledAt: null, apiCalls, error: null });
    return begun.shape;
  } finally {
    await store.close();
  }
}
