/** What an operator may do beside the API, with credentials of the cloud instead of a token. */
export interface Operator {
  /** Makes a workspace and the first token that administers it; with the org of another one, where that is named. */
  createWorkspace(asked: {
    readonly name: string;
    readonly owner: string;
    readonly withOrgOf?: string;
  }): Promise<{ readonly workspaceId: string; readonly token: string }>;
  /** Makes a token that sees every workspace and may pause the deployment. */
  createToken(owner: string): Promise<{ readonly workspaceId: string; readonly token: string }>;
  /** Every workspace of the deployment. */
  listWorkspaces(): Promise<readonly OperatedWorkspace[]>;
  /** Pauses the whole deployment, or ends that; what was so already stays as it is. Gives when and by whom that was. */
  switchPause(asked: {
    readonly paused: boolean;
    readonly actor: string;
    readonly reason: string | null;
  }): Promise<{ readonly paused: boolean; readonly at: string; readonly by: string; readonly reason: string | null }>;
  /** Announces another pepper; tokens move to it as they are used. Gives from when on it is used. */
  rotatePepper(actor: string): Promise<{ readonly used_from: string }>;
  /** What works by the former pepper alone; refuses where none is kept. */
  findFormer(): Promise<FormerSecrets>;
  /** Revokes these tokens and deletes the former pepper. */
  endFormer(actor: string): Promise<{ readonly tokens_revoked: number }>;
  /** Seals every stored secret again under the KMS key as it is now. */
  reseal(asked: {
    readonly actor: string;
    readonly onProgress: (resealed: number) => void;
  }): Promise<{ readonly resealed: number; readonly remaining: readonly RemainingSecret[] }>;
  /** What would be lost; `waiting` counts changes that Salesforce has not answered, null where that is unknown. */
  describeRemoval(workspaceId: string): Promise<{
    readonly name: string;
    readonly isGone: boolean;
    readonly mappings: number;
    readonly webhooks: number;
    readonly tokens: number;
    readonly waiting: number | null;
  }>;
  /** Removes a workspace and what Bridge put into its database; once begun, the same call ends it. */
  removeWorkspace(asked: {
    readonly workspaceId: string;
    readonly actor: string;
    readonly leaveDatabase: boolean;
  }): Promise<{ readonly name: string; readonly cleared: ClearedDatabase | null }>;
}

/** Tokens and doorbells that end with the former pepper. Times are ISO 8601; null: never used. */
export interface FormerSecrets {
  readonly tokens: readonly {
    readonly id: string;
    readonly name: string;
    readonly owner: string;
    readonly workspace_id: string;
    readonly last_used_at: string | null;
  }[];
  readonly doorbells: readonly { readonly workspace_id: string; readonly created_at: string }[];
}

/** A secret that could not be sealed again, and why. */
export interface RemainingSecret {
  readonly workspace_id: string;
  readonly kind: string;
  readonly reason: string;
}

/** What was removed from a database, by name. */
export interface ClearedDatabase {
  readonly schema: string;
  readonly triggers: readonly string[];
  readonly functions: readonly string[];
  readonly tables: readonly string[];
  /** Tables that stay: changes that were not sent, and the way back to Heroku Connect. */
  readonly kept: readonly string[];
}

/** The figures are what cycles have kept, each with its time (ISO 8601); null: not known yet. */
export interface OperatedWorkspace {
  readonly id: string;
  readonly name: string;
  readonly connected: boolean;
  readonly pause: { readonly since: string; readonly by: string; readonly reason: string | null } | null;
  readonly broken: readonly { readonly since: string | null; readonly reason: string | null }[];
  readonly waiting: number | null;
  readonly oldest_waiting_at: string | null;
  readonly counted_at: string | null;
  readonly rows_refused: number;
  readonly calls_used: number | null;
  readonly calls_limit: number | null;
  readonly calls_at: string | null;
}

/** Which deployment: a stage in the account of the credentials, or (null) the instance on this machine. */
export type OpenOperator = (asked: { readonly stage: string | null; readonly dataDir: string }) => Promise<Operator>;

/** An embedded Salesforce org that runs, and how to come in. */
export interface RunningOrg {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly accessToken: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The file that clients have to trust; null without TLS. */
  readonly certificate: string | null;
  close(): Promise<void>;
}

/** What the machine can do beside speaking to a service; bin provides it, and only what is asked for is loaded. */
export interface Machine {
  readonly openOperator: OpenOperator;
  startOrg(asked: AskedOrg): Promise<RunningOrg>;
}

/** How an org is to run; `definition` is a JSON file with objects, fields and rules beyond the standard ones. */
export interface AskedOrg {
  readonly dataDir: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly host: string;
  readonly tls: boolean;
  readonly definition: string | null;
  /** `SAVE,JOB` in seconds; null: saves take as long as this machine takes. */
  readonly latency: string | null;
  /** Opens the control endpoints under `/_sim`. */
  readonly controls: boolean;
}
