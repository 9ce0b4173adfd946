/** The tenant; everything belongs to one. Credentials are decrypted only to open a connection. */
export interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly postgres: PostgresConnection | null;
  readonly salesforce: SalesforceConnection | null;
}

/** Sessions of the database that a workspace opens at once, unless it says otherwise, and what it may say. */
export const MOST_CONNECTIONS = 10;
export const CONNECTION_LIMITS: readonly [least: number, most: number] = [3, 1000];

/** Who changes mapped tables: Bridge itself, or the application, by migrations that Bridge proposes. */
export const SCHEMA_CHANGES = ["apply", "propose"] as const;
export type SchemaChanges = (typeof SCHEMA_CHANGES)[number];

export interface PostgresConnection {
  /** `postgres://user:password@host:port/database`, decrypted. */
  readonly url: string;
  /** The schema of the mapped tables, `salesforce` unless set otherwise. */
  readonly schema: string;
  /** Left out: `MOST_CONNECTIONS`. */
  readonly maxConnections?: number | undefined;
  /** Left out by older versions: `apply`. */
  readonly schemaChanges?: SchemaChanges;
  /** Left out: `RETENTION`. */
  readonly retention?: Partial<Retention> | undefined;
  /** Left out: the log is vacuumed as its owner has set it. */
  readonly logAutovacuum?: LogAutovacuum | undefined;
}

/** Where a database is, `host:port`. */
export function addressOf({ url }: PostgresConnection): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port === "" ? 5432 : port}`;
}

/** How many days Bridge keeps what it writes into the customer's database beside their rows. */
export interface Retention {
  /** Settled changes in the log. */
  readonly logDays: number;
  readonly conflictDays: number;
  readonly tombstoneDays: number;
}

export const RETENTION: Retention = { logDays: 31, conflictDays: 31, tombstoneDays: 31 };

/** The least and the most of each: the delete breaker reads tombstones of the last seven days. */
export const RETENTION_LIMITS: Readonly<Record<keyof Retention, readonly [least: number, most: number]>> = {
  logDays: [1, 3650],
  conflictDays: [1, 3650],
  tombstoneDays: [8, 3650],
};

/** Storage parameters of the log by PostgreSQL's names behind `autovacuum_`. */
export type LogAutovacuum = Readonly<Record<string, number>>;

/** Those that may be chosen, with PostgreSQL's limits; true: fractions are allowed. */
export const AUTOVACUUM_LIMITS: Readonly<Record<string, readonly [least: number, most: number, isFraction: boolean]>> =
  {
    vacuum_scale_factor: [0, 100, true],
    vacuum_threshold: [0, 2_147_483_647, false],
    vacuum_insert_scale_factor: [0, 100, true],
    vacuum_insert_threshold: [-1, 2_147_483_647, false],
    analyze_scale_factor: [0, 100, true],
    analyze_threshold: [0, 2_147_483_647, false],
    vacuum_cost_delay: [0, 100, true],
    vacuum_cost_limit: [1, 10_000, false],
  };

export interface SalesforceConnection {
  /** Where logins and token requests go, `https://login.salesforce.com`. */
  readonly loginUrl: string;
  /** Where the org answers, as the last login said. */
  readonly instanceUrl: string;
  readonly organizationId: string;
  /** The user that we write as. */
  readonly userId: string;
  /** Users that this workspace wrote to this org as before. */
  readonly formerUserIds: readonly string[];
  /** As in request paths, without the v: `66.0`. */
  readonly apiVersion: string;
  readonly credentials: SalesforceCredentials;
  /** The session of the last login; null before the first. */
  readonly accessToken: string | null;
}

/** All users as whom we may have written, now first: an insert in doubt is looked up among what they created. */
export const writersOf = ({ userId, formerUserIds }: Pick<SalesforceConnection, "userId" | "formerUserIds">) => [
  userId,
  ...formerUserIds,
];

/** Who was the writer before, where a session speaks for this user from now on. */
export function formerWriters(
  before: Pick<SalesforceConnection, "userId" | "formerUserIds">,
  userId: string,
): readonly string[] {
  return [...new Set(writersOf(before))].filter((id) => id !== userId && id !== "");
}

/** How a new session is had when the old one has ended (Salesforce, OAuth 2.0 flows). */
export type SalesforceCredentials =
  | {
      readonly kind: "refresh_token";
      readonly clientId: string;
      readonly clientSecret: string | null;
      readonly refreshToken: string;
      /** When the org gave it in the place of the previous one; left out: it came with the sign-in. */
      readonly rotatedAt?: string | undefined;
    }
  | {
      readonly kind: "password";
      readonly clientId: string;
      readonly clientSecret: string;
      readonly username: string;
      readonly password: string;
    }
  | { readonly kind: "client_credentials"; readonly clientId: string; readonly clientSecret: string }
  | {
      readonly kind: "jwt_bearer";
      readonly clientId: string;
      readonly username: string;
      readonly privateKey: string;
      /** The audience that the org accepted last; left out: none yet. */
      readonly audience?: string | undefined;
    };
