import type { CaptureOff } from "../model/change/capture-off.ts";
import type { AuditEntry } from "../model/workspace/audit.ts";
import type { PostgresConnection, SalesforceConnection } from "../model/workspace/workspace.ts";

/** What inspecting a database found out. */
export interface DatabaseFacts {
  /** `server_version_num`: 170004 is 17.4. */
  readonly version: number;
  readonly encrypted: boolean;
  readonly user: string;
  readonly database: string;
  /** A standby, or a database that was set read-only. */
  readonly readOnly: boolean;
  readonly mayCreateSchema: boolean;
  readonly schemaExists: boolean;
  readonly maySeeSchema: boolean;
  readonly mayCreateTables: boolean;
  /** Schemas of the search path in which roles other than their owner and ours may create. */
  readonly openSchemas: readonly string[];
  /** Triggers (BEFORE) and rules of the owner's on tables of Bridge's, which may undo its writes. */
  readonly undoing: readonly string[];
  /** Workspace that the schema belongs to; null: none yet. */
  readonly workspaceId: string | null;
  /** What was done to mapped tables since they were created. */
  readonly damages: readonly Damage[];
  /** Events that the service's own store refused; their table. */
  readonly setAside: { readonly events: number; readonly table: string };
}

/** A mapped table that is not as its mapping needs it. */
export interface Damage {
  readonly table: string;
  readonly sfObject: string;
  readonly what: CaptureOff;
}

/** Why a database could not be looked into, by class, with what can be done about it; never the driver's words. */
export class NoConnection extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string, cause: unknown) {
    super(message, { cause });
    this.name = "NoConnection";
    this.remedy = remedy;
  }
}

/** A customer's database, before it is connected. */
export interface Databases {
  /** Rejects with `NoConnection`. */
  look(connection: PostgresConnection): Promise<DatabaseFacts>;
  /** Makes a schema that another workspace had this workspace's. */
  takeOver(connection: PostgresConnection, workspaceId: string): Promise<void>;
}

/** What an org's token endpoint gave. */
export interface Session {
  readonly accessToken: string;
  readonly instanceUrl: string;
  readonly refreshToken: string | null;
  /** Who it speaks for, where the token endpoint says so. */
  readonly userId: string | null;
  readonly organizationId: string | null;
}

/** The same by a connection's credentials, and these for the next time: with the refresh token that was rotated in, or the audience that was accepted. */
export interface LoggedIn extends Session {
  readonly credentials: SalesforceConnection["credentials"];
}

/** Who a session speaks for, as its own instance says. */
export interface Identity {
  readonly organizationId: string;
  readonly userId: string;
  readonly username: string;
}

/** An org before it is connected. Rejects with `SalesforceRefusal`. */
export interface OrgLogin {
  /** A session by the credentials of a connection. */
  logIn(loginUrl: string, credentials: SalesforceConnection["credentials"], at: Date): Promise<LoggedIn>;
  /** A session for the code that a browser brought back (web-server flow with PKCE). */
  exchangeCode(pending: PendingAuthorization, code: string): Promise<Session>;
  identify(session: Session): Promise<Identity>;
  /** API versions that the instance speaks, `66.0`. */
  versions(instanceUrl: string): Promise<readonly string[]>;
}

/** A sign-in that was begun and waits for its browser. */
export interface PendingAuthorization {
  readonly loginUrl: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  readonly redirectUri: string;
  readonly codeVerifier: string;
}

/** Where connections are kept, encrypted. */
export interface ConnectionSettings {
  /**
   * Changes the PostgreSQL connection to what `change` makes of the present one, and gives it. Where another change comes
   * between, `change` is called again with its outcome, so that neither brings back what the other replaced.
   */
  changePostgres(
    workspaceId: string,
    change: (before: PostgresConnection | null) => {
      readonly connection: PostgresConnection;
      readonly entry: AuditEntry;
    },
  ): Promise<PostgresConnection>;
  setSalesforce(workspaceId: string, connection: SalesforceConnection, entry: AuditEntry): Promise<void>;
  keepAuthorization(workspaceId: string, state: string, pending: PendingAuthorization, until: Date): Promise<void>;
  /** Gives it once; null: unknown, used, or too old. */
  takeAuthorization(workspaceId: string, state: string, at: Date): Promise<PendingAuthorization | null>;
}

/** What a workspace says of the org's calls: what of them it may make, and how often quiet mappings are asked about. */
export interface CallSettings {
  readonly calls_share: number;
  readonly most_calls: number | null;
  readonly when_quiet_seconds: number | null;
}

export interface CallShares {
  /** Holds from the next plan on, within a minute. */
  set(workspaceId: string, settings: CallSettings, entry: AuditEntry): Promise<void>;
}
