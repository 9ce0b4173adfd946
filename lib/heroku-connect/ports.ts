import type { PostgresConnection } from "../model/workspace/workspace.ts";

/** What Heroku Connect has created in a schema. */
export interface HerokuConnectSchema {
  /** `present`: its log has the name that ours needs; `adopted`: moved aside, its tables are taken over one by one. */
  readonly state: "absent" | "present" | "adopted";
  /** The tables that its triggers capture. */
  readonly tables: readonly HerokuConnectTable[];
  /** Tables that were taken over, and for how long that kept their writers waiting; null: not known. */
  readonly takenOver: readonly { readonly table: string; readonly lockedMs: number | null }[];
  /** Roles that own something of it which our role may not change. */
  readonly owners: readonly string[];
  readonly user: string;
  /** How many the server, the database and the role let be open at once. */
  readonly connections: number;
  /** When it last said that it did something; null: never, or too long ago to be found quickly. */
  readonly lastActiveAt: Date | null;
  /** Other sessions that look at its log now, by what they call themselves. */
  readonly readers: readonly string[];
  /** Views and triggers of the customer that depend on its log, and stay with it. */
  readonly dependents: readonly string[];
}

export interface HerokuConnectTable {
  readonly table: string;
  /** An estimate. */
  readonly rows: number;
  readonly triggers: readonly string[];
  /** Changes that would become ours. */
  readonly changes: { readonly new: number; readonly pending: number; readonly failed: number };
  /** Columns whose type we would not have chosen, and that keep it. */
  readonly keptTypes: readonly { readonly column: string; readonly type: string }[];
}

/** Schemas that Heroku Connect has been writing. Both reject with `NoConnection`. */
export interface HerokuConnectSchemas {
  look(connection: PostgresConnection): Promise<HerokuConnectSchema>;
  /** Moves its log aside and makes our tables; repeatable. Refuses with a `Failure` that names the remedy. */
  adopt(connection: PostgresConnection, workspaceId: string): Promise<void>;
}
