import type { SalesforceConnection } from "../../model/workspace/workspace.ts";

/** The connection as it is kept, with the version of this version of it. */
export interface KeptConnection {
  readonly connection: SalesforceConnection;
  readonly version: string;
  /** A renewal of this version runs until then; one whose time is over has ended without a result that was kept. */
  readonly renewalUntil: Date | null;
}

/** Where a workspace's Salesforce connection is kept, so that every invocation shares one session. */
export interface ConnectionStore {
  /** Null: the workspace is not connected to an org. */
  read(workspaceId: string): Promise<KeptConnection | null>;
  /** The right to renew the session that was read, held until then; false when it is in use or has changed since. */
  claimRenewal(workspaceId: string, read: KeptConnection, now: Date, until: Date): Promise<boolean>;
  /** Ends a claim whose renewal failed, so that the next one need not wait for it; `lostAt`: its answer may be lost. */
  abandonRenewal(workspaceId: string, version: string, lostAt: Date | null): Promise<void>;
  /** Keeps the renewed connection in the place of the version that was claimed and ends the claim. */
  keep(workspaceId: string, version: string, connection: SalesforceConnection): Promise<void>;
}

/** Sessions of one workspace's org, for all callers. */
export interface Sessions {
  /** The connection with the session that is kept. Rejects with a `session` refusal when no org is connected. */
  current(): Promise<SalesforceConnection>;
  /**
   * The connection with another session than the one that was refused: one that was renewed already, or a new one. At
   * most one renewal runs at a time in a workspace. Rejects with a `session` refusal when the org refuses.
   */
  renew(refused: string | null): Promise<SalesforceConnection>;
}
