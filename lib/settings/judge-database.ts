import { explainCaptureOff } from "../model/change/capture-off.ts";
import { type Finding, judged } from "./findings.ts";
import type { Damage, DatabaseFacts } from "./ports.ts";

/** The oldest PostgreSQL that has what capture needs (`server_version_num`). */
const LEAST_VERSION = 130_000;

/** What a database must be and allow, with the very GRANT that is missing. */
export function judgeDatabase(facts: DatabaseFacts, schema: string, workspaceId: string): readonly Finding[] {
  const { user, database } = facts;
  const name = quoted(schema);
  return [
    judged(
      "version",
      facts.version >= LEAST_VERSION,
      `PostgreSQL ${Math.floor(facts.version / 10_000)}.${facts.version % 10_000}`,
      "Bridge needs PostgreSQL 13 or later: upgrade the server",
    ),
    judged(
      "writable",
      !facts.readOnly,
      facts.readOnly ? "the server takes no writes" : "the server takes writes",
      "connect to the primary: a standby cannot be written",
    ),
    facts.schemaExists
      ? judged(
          "rights",
          facts.maySeeSchema && facts.mayCreateTables,
          `${user} ${facts.mayCreateTables ? "may" : "may not"} create tables in schema ${schema}`,
          `as its owner run: GRANT USAGE, CREATE ON SCHEMA ${name} TO ${quoted(user)};`,
        )
      : judged(
          "rights",
          facts.mayCreateSchema,
          `schema ${schema} does not exist, and ${user} ${facts.mayCreateSchema ? "may" : "may not"} create it`,
          `as the database's owner run: GRANT CREATE ON DATABASE ${quoted(database)} TO ${quoted(user)};`,
        ),
    judged(
      "owner",
      facts.workspaceId === null || facts.workspaceId === workspaceId,
      facts.workspaceId === null ? `schema ${schema} is free` : `schema ${schema} belongs to ${facts.workspaceId}`,
      "choose another schema, or take this one over (take_over) once the other workspace has ended",
    ),
    ...facts.damages.map(judgeDamage),
    ...facts.openSchemas.map(warnOfOpenSchema),
    ...facts.undoing.map((what) =>
      judged(
        "writes",
        false,
        `${what}, one of Bridge's tables, may undo Bridge's writes`,
        "drop it, or make it an AFTER trigger",
      ),
    ),
    ...(facts.setAside.events > 0 ? [judgeSetAside(facts.setAside)] : []),
  ];
}

/** The checks that find what was done to mapped tables and Bridge's own, and events that were not published. */
export const DAMAGES = ["tables", "capture", "events", "writes"] as const;

/** Nothing of theirs is called by Bridge; what the application's own statements and triggers call may be. */
const warnOfOpenSchema = (schema: string): Finding => ({
  check: "search_path",
  ok: true,
  message: `other roles may create functions and operators in ${schema}, and the application's statements may call them`,
  remedy: `as its owner run: REVOKE CREATE ON SCHEMA ${quoted(schema)} FROM PUBLIC; and from other roles that may`,
});

function judgeSetAside({ events, table }: DatabaseFacts["setAside"]): Finding {
  const message = `${events === 1 ? "1 event" : `${events} events`} could not be stored, so no webhook received ${events === 1 ? "it" : "them"}; ${table} keeps each with its reason`;
  return judged("events", false, message, `read them there, look at: bridge errors; then run: DELETE FROM ${table};`);
}

function judgeDamage({ table, sfObject, what }: Damage): Finding {
  const { problem, remedy } = explainCaptureOff(what, table, sfObject);
  return judged(what.why === "table" || what.why === "columns" ? "tables" : "capture", false, problem, remedy);
}

/** TLS is reported and never refused here: the connection's own URL decides what is verified. */
export function describeEncryption({ encrypted }: DatabaseFacts, host: string): Finding {
  const isHere = /^(localhost|127\.[\d.]+|\[?::1\]?)$/.test(host);
  const [message, remedy] = encrypted
    ? ["the connection is encrypted", null]
    : isHere
      ? ["the connection does not leave the machine of this service", null]
      : ["the connection is not encrypted", "use ?sslmode=verify-full in the URL"];
  return { check: "tls", ok: true, message, remedy };
}

/** A name as a statement has it. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
