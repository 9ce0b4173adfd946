import type { KeyObject } from "node:crypto";
import type { AuditEntry } from "../model/workspace/audit.ts";
import type { Pause, PauseSwitch } from "../model/workspace/pause.ts";
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
  /** Of an invitation, which opens nothing: what its owner's token may do once they accept it. Null: it is a token. */
  readonly invited: readonly Scope[] | null;
  readonly createdAt: Date;
  /** Null: it does not expire. */
  readonly validUntil: Date | null;
  readonly revokedAt: Date | null;
  /** To the minute; null before the first use. */
  readonly lastUsedAt: Date | null;
}

/** What is kept of a token: its HMAC-SHA256 in hexadecimal, and the number of the pepper that it is keyed with. */
export interface TokenHash {
  readonly hash: string;
  readonly pepper: number;
}

/** Where tokens are kept, by their keyed hash. */
export interface Tokens {
  /** The token with this hash, revoked and expired ones too; one that is kept by the other hash gets this one. */
  find(hash: TokenHash, other: TokenHash | null): Promise<TokenRecord | null>;
  create(hash: TokenHash, token: TokenRecord, entry: AuditEntry): Promise<void>;
  /** All tokens of a workspace, newest first, revoked and expired ones too for some weeks. */
  list(workspaceId: string): Promise<readonly TokenRecord[]>;
  /** Ends a token then, at once if that is the entry's time; null: this workspace has no such token, or it ends before. */
  revoke(workspaceId: string, tokenId: string, endsAt: Date, entry: AuditEntry): Promise<TokenRecord | null>;
  /** Keeps when a token was used; harmless where its hash has changed meanwhile. */
  touch(hash: TokenHash, usedAt: Date): Promise<void>;
}

/** A workspace whose credentials are still sealed. */
export interface SealedWorkspace {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  /** Both sides are connected. */
  readonly isConnected: boolean;
  /** Null: it was never paused. */
  readonly pauseSwitch: PauseSwitch | null;
  /** Decrypts the credentials. */
  open(): Promise<Workspace>;
}

/** Who does something in a workspace, by the e-mail address that the audit log names, and when. */
export interface Acting {
  readonly workspace: SealedWorkspace;
  readonly actor: string;
  readonly at: Date;
}

export interface Workspaces {
  /** Null also for a deleted one. */
  find(workspaceId: string): Promise<SealedWorkspace | null>;
  /** All of the deployment but the operators' own, by name; reads the whole table, for operators and the minute sweep. */
  list(): Promise<readonly SealedWorkspace[]>;
  create(workspace: Workspace, entry: AuditEntry): Promise<void>;
  /** Gives it another name, with the audit entry; false: it was deleted meanwhile. */
  rename(workspaceId: string, name: string, entry: AuditEntry): Promise<boolean>;
  /** Pauses or resumes it, with the audit entry; false, and nothing was written: it was so already, or was deleted. */
  switchPause(workspaceId: string, to: PauseSwitch, entry: AuditEntry): Promise<boolean>;
}

/** Whether a person has stopped a workspace, or the whole deployment. */
export interface Pauses {
  /** What holds the workspace, known to be true at most two seconds ago; null: nothing does. */
  find(workspaceId: string): Promise<Pause | null>;
}

/** A secret of the service that token hashes are keyed with; they are numbered from 1. */
export interface PepperKey {
  readonly number: number;
  readonly key: KeyObject;
}

/** The pepper in use, and during a rotation the one under which tokens may be kept as well. */
export interface Peppers {
  readonly current: PepperKey;
  readonly other: PepperKey | null;
}

export interface Pepper {
  /** Known to be true at most a minute ago; null when no token was ever made. */
  read(): Promise<Peppers | null>;
  /** The one in use, created on first use; all callers get the same. */
  readOrCreate(): Promise<PepperKey>;
}

/** The URL of a workspace's doorbell, by the number of its token. */
export interface DoorbellUrl {
  /** 0: there never was one. */
  readonly number: number;
  /** Null: there is none now. */
  readonly madeAt: Date | null;
  /** Until when the token before rings as well; null: it does not. */
  readonly formerUntil: Date | null;
  /** The number of the pepper that the URL which was given last is derived from. */
  readonly pepper: number;
}

/** Doorbells as they are kept. */
export interface Doorbells {
  read(workspaceId: string): Promise<DoorbellUrl>;
  set(workspaceId: string, url: DoorbellUrl, entry: AuditEntry): Promise<void>;
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
