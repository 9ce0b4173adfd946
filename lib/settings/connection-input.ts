import { createPrivateKey } from "node:crypto";
import * as z from "zod/mini";
import { tableNameProblem } from "../config/identifiers.ts";
import { isOneLine, ONE_LINE } from "../model/one-line.ts";
import { toCamelCase } from "../model/snake-case.ts";
import {
  AUTOVACUUM_LIMITS,
  CONNECTION_LIMITS,
  RETENTION_LIMITS,
  type Retention,
  type SalesforceCredentials,
  SCHEMA_CHANGES,
} from "../model/workspace/workspace.ts";
import { body } from "./shapes.ts";

const text = (longest: number) =>
  z.string({ error: "must be a text" }).check(
    z.minLength(1, { error: "must not be empty" }),
    z.maxLength(longest, { error: `must be at most ${longest} characters` }),
    z.refine((value) => !value.includes("\u0000") && value.isWellFormed(), {
      error: "must not hold a NUL or half a character",
    }),
  );

/** The same in one line; secrets may hold anything else. */
const oneLine = (longest: number) => text(longest).check(z.refine(isOneLine, { error: ONE_LINE }));

const httpUrl = () =>
  oneLine(2048).check(
    z.refine((value) => /^https?:\/\//i.test(value) && URL.canParse(value), {
      error: "must be a URL like https://login.salesforce.com",
    }),
  );

/** A schema's name has a table's rules. */
const schemaName = () =>
  text(63).check(
    z.refine((value) => tableNameProblem(value) === null && !/^(pg_|information_schema$)/.test(value), {
      error: "must be a schema name: lower-case letters, digits and underscores",
    }),
  );

/** What a person says of a database. */
export const postgresBody = body({
  url: oneLine(2048).check(
    z.refine(isDatabaseUrl, {
      error: "must look like postgres://user:password@host:5432/database?sslmode=verify-full",
    }),
    z.refine(isKeptRightly, {
      error:
        "must name at most one of ?secret=ARN of AWS Secrets Manager and ?command=NAME of lower-case letters, digits and hyphens, and then no password",
    }),
    z.refine(isDecodable, { error: "must have its special characters %-encoded, a percent sign itself as %25" }),
  ),
  /** Left out: as it was, at first `salesforce`. */
  schema: z.optional(schemaName()),
  take_over: z._default(z.boolean({ error: "must be true or false" }), false),
  /** Left out: as it was. */
  schema_changes: z.optional(schemaChanges()),
});

/** What may be changed of a connected database. Left out: as it was. */
export const postgresChange = body({
  schema_changes: z.optional(schemaChanges()),
  /** Sessions that Bridge opens at once, over all its functions. */
  max_connections: z.optional(between(z.int({ error: "must be a whole number" }), ...CONNECTION_LIMITS)),
});

function schemaChanges() {
  return z.enum(SCHEMA_CHANGES, { error: "must be apply or propose" });
}

/** How long the database keeps what Bridge writes beside mapped rows, and how its log is vacuumed. Left out: as it was. */
export const retentionChange = body({
  log_days: days("logDays"),
  conflict_days: days("conflictDays"),
  tombstone_days: days("tombstoneDays"),
  /** Null, and what is left out of it: as the owner of the log has set it. */
  log_autovacuum: z.optional(
    z.nullable(body(Object.fromEntries(Object.keys(AUTOVACUUM_LIMITS).map((name) => [name, parameter(name)])))),
  ),
});

function days(of: keyof Retention) {
  const [least, most] = RETENTION_LIMITS[of];
  return z.optional(between(z.int({ error: "must be a whole number of days" }), least, most));
}

function parameter(name: string) {
  const [least = 0, most = 0, isFraction = false] = AUTOVACUUM_LIMITS[name] ?? [];
  const number = isFraction ? z.number({ error: "must be a number" }) : z.int({ error: "must be a whole number" });
  return z.optional(between(number, least, most));
}

function between(number: z.ZodMiniNumber, least: number, most: number) {
  return number.check(
    z.gte(least, { error: `must be at least ${least}` }),
    z.lte(most, { error: `must be at most ${most}` }),
  );
}

function isDatabaseUrl(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && ["postgres:", "postgresql:"].includes(url.protocol) && url.hostname !== "";
}

/** Where the URL says that its credentials are kept. */
function isKeptRightly(value: string): boolean {
  const { searchParams, password } = URL.parse(value) ?? { searchParams: new URLSearchParams(), password: "" };
  const places = [...searchParams].filter(([name]) => name === "secret" || name === "command");
  if (places.length === 0) return true;
  const isRight = places.every(([kind, name]) =>
    kind === "secret" ? /^arn:[\w-]+:secretsmanager:[\w-]+:\d{12}:secret:\S+$/.test(name) : /^[a-z0-9-]+$/.test(name),
  );
  return isRight && places.length === 1 && password === "";
}

/** Each part is read separately when connecting. */
function isDecodable(value: string): boolean {
  const { hostname = "", username = "", password = "", pathname = "" } = URL.parse(value) ?? {};
  try {
    for (const part of [hostname, username, password, pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

const clientId = () => oneLine(512);
const secret = () => text(512);

const flows = {
  refresh_token: body({
    kind: z.literal("refresh_token"),
    client_id: clientId(),
    client_secret: z.nullable(secret()),
    refresh_token: text(2048),
  }),
  password: body({
    kind: z.literal("password"),
    client_id: clientId(),
    client_secret: secret(),
    username: oneLine(255),
    password: text(512),
  }),
  client_credentials: body({
    kind: z.literal("client_credentials"),
    client_id: clientId(),
    client_secret: secret(),
  }),
  jwt_bearer: body({
    kind: z.literal("jwt_bearer"),
    client_id: clientId(),
    username: oneLine(255),
    private_key: text(16_384).check(
      z.refine(isPrivateKey, { error: "must be an RSA private key in PEM form, without a passphrase" }),
    ),
  }),
};

const credentials = z.discriminatedUnion(
  "kind",
  [flows.refresh_token, flows.password, flows.client_credentials, flows.jwt_bearer],
  { error: "must name its kind: refresh_token, password, client_credentials or jwt_bearer, and what belongs to it" },
);

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === "rsa";
  } catch {
    return false;
  }
}

/** Credentials for machines. */
export const salesforceBody = body({ login_url: httpUrl(), credentials });

/** The same in the model's words. */
export const credentialsOf = (given: z.infer<typeof credentials>): SalesforceCredentials =>
  toCamelCase(flows[given.kind], given);

/** What begins a sign-in by browser. */
export const authorizeBody = body({
  login_url: httpUrl(),
  client_id: clientId(),
  client_secret: z._default(z.nullable(secret()), null),
  redirect_uri: httpUrl(),
});

/** What the browser brought back. */
export const completeBody = body({ state: oneLine(128), code: oneLine(2048) });
