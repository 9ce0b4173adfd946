import * as z from "zod/mini";
import type { Acting } from "../access/ports.ts";
import type { AuditTrail } from "../audit/ports.ts";
import { Failure } from "../model/failure.ts";
import { toSnakeCase } from "../model/snake-case.ts";
import { auditEntry } from "../model/workspace/audit.ts";
import { MOST_CONNECTIONS, type PostgresConnection } from "../model/workspace/workspace.ts";
import { notConnected } from "../monitoring/with-database.ts";
import { type Finding, finding, judged } from "../settings/findings.ts";
import { quoted } from "../settings/judge-database.ts";
import { NoConnection } from "../settings/ports.ts";
import type { HerokuConnectSchema, HerokuConnectSchemas } from "./ports.ts";

interface Needs {
  readonly theirs: HerokuConnectSchemas;
  readonly audit: AuditTrail;
}

interface Asked extends Acting {
  /** Only look. */
  readonly dryRun: boolean;
}

/** What there is to adopt, table by table, and what speaks against it. */
export const adoption = z.object({
  state: z.enum(["absent", "present", "adopted"]),
  tables: z.array(
    z.object({
      table: z.string(),
      rows: z.number(),
      triggers: z.array(z.string()),
      changes: z.object({ new: z.number(), pending: z.number(), failed: z.number() }),
      kept_types: z.array(z.object({ column: z.string(), type: z.string() })),
    }),
  ),
  taken_over: z.array(z.object({ table: z.string(), locked_ms: z.nullable(z.int()) })),
  findings: z.array(finding),
});
type Adoption = z.infer<typeof adoption>;

/**
 * Makes a schema that Heroku Connect has been writing the workspace's: its log is moved aside, and from then on each of
 * its tables changes hands when its mapping is provisioned. Asked again it changes nothing. Refuses what is not Heroku
 * Connect's, and what the connected role may not change.
 */
export async function adoptHerokuConnect(needs: Needs, asked: Asked): Promise<Adoption> {
  const connection = (await asked.workspace.open()).postgres;
  if (connection === null) throw notConnected();
  const before = await connected(() => needs.theirs.look(connection));
  const report = reportOf(before, connection, asked.at);
  if (asked.dryRun) return report;
  const inTheWay = report.findings.find(({ check, ok }) => !ok && NECESSARY.has(check));
  if (inTheWay) throw new Failure("CONFLICT", `${inTheWay.message}; ${inTheWay.remedy}`);
  if (before.state === "present") await adopt(needs, asked, connection, before);
  return { ...report, state: "adopted" };
}

/** Findings without which nothing is adopted; the others are for the operator to weigh. */
const NECESSARY = new Set(["log", "rights"]);

/** The entry is written before the change: they are in different databases, and every change must be audited. */
async function adopt(needs: Needs, asked: Asked, connection: PostgresConnection, { tables }: HerokuConnectSchema) {
  const { id: workspaceId } = asked.workspace;
  const detail = { adopted: "heroku_connect", schema: connection.schema, tables: tables.map(({ table }) => table) };
  await needs.audit.append(auditEntry({ ...asked, workspaceId }, "connection.postgres_changed", workspaceId, detail));
  await connected(() => needs.theirs.adopt(connection, asked.workspace.id));
}

async function connected<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NoConnection)) throw error;
    throw new Failure("CONFLICT", `${error.message}; ${error.remedy}`);
  }
}

const reportOf = (theirs: HerokuConnectSchema, { schema, maxConnections }: PostgresConnection, at: Date): Adoption =>
  toSnakeCase(adoption, {
    ...theirs,
    findings:
      theirs.state === "absent"
        ? [absent(schema)]
        : [...judge(theirs, schema, at), judgeConnections(theirs, maxConnections)],
  });

/** An application has connections of its own. */
const judgeConnections = ({ connections }: HerokuConnectSchema, most = MOST_CONNECTIONS): Finding =>
  judged(
    "connections",
    2 * most <= connections,
    `Bridge opens up to ${most} of ${connections} connections`,
    "leave the application what it needs: bridge schema connections N, or a larger plan",
  );

const absent = (schema: string): Finding =>
  judged(
    "log",
    false,
    `schema ${schema} holds nothing of Heroku Connect's`,
    "connect the database and the schema that it writes to: bridge connect postgres --schema NAME",
  );

/** Heroku Connect asks its log every two minutes at the most. */
const QUIET_MILLISECONDS = 5 * 60_000;

function judge(
  { state, owners, user, lastActiveAt, readers, dependents }: HerokuConnectSchema,
  schema: string,
  at: Date,
) {
  const moved = state === "adopted" ? ", moved aside" : "";
  const grants = owners.map((owner) => `GRANT ${quoted(owner)} TO ${quoted(user)};`).join(" ");
  const minutes = lastActiveAt === null ? null : Math.floor((at.getTime() - lastActiveAt.getTime()) / 60_000);
  const isQuiet = lastActiveAt === null || at.getTime() - lastActiveAt.getTime() > QUIET_MILLISECONDS;
  return [
    judged("log", true, `schema ${schema} has Heroku Connect's log${moved}`, ""),
    judged(
      "rights",
      owners.length === 0,
      owners.length === 0
        ? `${user} may change what Heroku Connect has made`
        : `${user} may not change what belongs to ${owners.join(", ")}`,
      `as those roles or as a superuser run: ${grants}`,
    ),
    judged(
      "paused",
      isQuiet,
      minutes === null
        ? "Heroku Connect has processed nothing lately"
        : `Heroku Connect last worked ${minutes} minutes ago`,
      "pause it and wait until it is idle: heroku connect:pause",
    ),
    judged(
      "readers",
      readers.length === 0,
      readers.length === 0 ? "no other session reads the log" : `the log is read by: ${readers.join(", ")}`,
      "if that is Heroku Connect, pause it; if it is a monitor of yours, it sees the new log from then on",
    ),
    judged(
      "dependents",
      dependents.length === 0,
      dependents.length === 0
        ? "nothing of yours depends on the log"
        : `these depend on the old log: ${dependents.join(", ")}`,
      `they stay with it, as ${schema}._hc_trigger_log; make them again on ${schema}._trigger_log`,
    ),
  ];
}
