import type { KeyObject } from "node:crypto";
import type { AuditEntry } from "../model/workspace/audit.ts";
import type { Scope } from "../model/workspace/token.ts";
import type { Workspace } from "../model/workspace/workspace.ts";

/** An API token as it is kept: everything but the token. */
export interface TokenRecord {
  readonly id: string;
  readonly workspaceId: string;
  /** What the owner calls it. */
  readonly name: string;
  /** The owner's e-mail address in lower case: the actor in the audit log. */
  readonly owner: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  /** Null: it does not expire. */
  readonly validUntil: Date | null;
  readonly revokedAt: Date | null;
  /** To the minute; null before the first use. */
  readonly lastUsedAt: Date | null;
}

/** Where tokens are kept, by their keyed hash. */
export interface Tokens {
  /** The token with this hash, revoked and expired ones too. */
  find(hash: string): Promise<TokenRecord | null>;
  create(hash: string, token: TokenRecord, entry: AuditEntry): Promise<void>;
  /** All tokens of a workspace, newest first, revoked and expired ones too for some weeks. */
  list(workspaceId: string): Promise<readonly TokenRecord[]>;
  /** Ends a token then, at once if that is the entry's time; null: this workspace has no such token, or it ends before. */
  revoke(workspaceId: string, tokenId: string, endsAt: Date, entry: AuditEntry): Promise<TokenRecord | null>;
  /** Keeps when a token was used. */
  touch(hash: string, usedAt: Date): Promise<void>;
}

/** A workspace whose credentials are still sealed. */
export interface SealedWorkspace {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  /** Both sides are connected. */
  readonly isConnected: boolean;
  /** Decrypts the credentials. */
  open(): Promise<Workspace>;
}

export interface Workspaces {
  /** Null also for a deleted one. */
  find(workspaceId: string): Promise<SealedWorkspace | null>;
  /** All of the deployment, by name; reads the whole table, for operators and the minute sweep. */
  list(): Promise<readonly SealedWorkspace[]>;
  create(workspace: Workspace, entry: AuditEntry): Promise<void>;
  /** Gives it another name, with the audit entry; false: it was deleted meanwhile. */
  rename(workspaceId: string, name: string, entry: AuditEntry): Promise<boolean>;
}

/** The service's own secret that token hashes are keyed with. */
export interface Pepper {
  /** Null when no token was ever made. */
  read(): Promise<KeyObject | null>;
  /** Makes it on first use; everybody gets the same. */
  readOrCreate(): Promise<KeyObject>;
}

/** Counts requests per source and minute. */
export interface RateLimits {
  /** Requests of this source in the minute of `at`, this one included. */
  count(source: string, at: Date): Promise<number>;
}

/** Seals and opens what must not be readable at rest. What was sealed for one workspace opens for no other. */
export interface Vault {
  /** `plaintext` as text that can be kept anywhere. */
  seal(workspaceId: string, plaintext: string): Promise<string>;
  open(workspaceId: string, sealed: string): Promise<string>;
}
