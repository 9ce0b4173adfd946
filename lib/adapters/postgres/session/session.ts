import { Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import type { PostgresConnection } from "../../../model/workspace/workspace.ts";
import { withCredentials, withNewerCredentials } from "../../../network/kept-credentials.ts";
import { checkCertificate } from "./check-certificate.ts";
import { checkFrames } from "./check-frames.ts";
import { connectionOptions } from "./connection-options.ts";
import { GuardedSocket } from "./guarded-socket.ts";
import { named } from "./named.ts";
import { withCode } from "./protocol-violation.ts";
import { qualify } from "./qualify.ts";
import { literal, type Row, readInstant, type Session, type TransactionSettings, type Values } from "./sql.ts";
import { sqlState } from "./sql-errors.ts";
import { statementNames } from "./statement-names.ts";

declare module "pg" {
  interface Client {
    /** Of the backend, as it was named at the start. */
    readonly processID: number;
  }
}

/** How long a statement may take, locks included, and how long a silent server is believed to be alive. */
const STATEMENT_MILLISECONDS = 15_000;
const CONNECT_MILLISECONDS = 10_000;
/** The server is given a little longer, so that its own refusal, which names the statement's trouble, comes first. */
const GRACE_MILLISECONDS = 1_000;

export interface Deadlines {
  readonly statementMilliseconds?: number;
  readonly connectMilliseconds?: number;
  readonly graceMilliseconds?: number;
  /** What the server calls it. */
  readonly name?: string;
}

/** A server that took longer than the deadline to answer, or stopped answering. */
export class DeadlinePassed extends Error {
  constructor(milliseconds: number) {
    super(`PostgreSQL did not answer within ${milliseconds / 1000} s; the connection was given up`);
    this.name = "DeadlinePassed";
  }
}

/**
 * Opens a connection; where its credentials are kept elsewhere and were changed since they were read, by the new ones.
 */
export async function openSession({ url }: PostgresConnection, deadlines: Deadlines = {}): Promise<Session> {
  const used = await withCredentials(url);
  try {
    return await openBy(used, deadlines);
  } catch (error) {
    if (sqlState(error) === "53300") throw error; // no connection left, which is tried again every second
    const newer = await withNewerCredentials(url, used);
    if (newer === null) throw error;
    return openBy(newer, deadlines);
  }
}

/**
 * No statement of ours needs session settings, LISTEN or names, so it works through transaction poolers.
 * Where there is none (`prepareOn`), statements that are asked again are prepared, because planning takes longer than they do.
 */
async function openBy(
  url: string,
  {
    statementMilliseconds = STATEMENT_MILLISECONDS,
    connectMilliseconds = CONNECT_MILLISECONDS,
    graceMilliseconds = GRACE_MILLISECONDS,
    name = "bridge",
  }: Deadlines,
): Promise<Session> {
  const silenceMilliseconds = statementMilliseconds + graceMilliseconds;
  const client = new pg.Client({
    ...connectionOptions(url),
    stream: () => new GuardedSocket(),
    application_name: name,
    connectionTimeoutMillis: connectMilliseconds,
    keepAlive: true,
    types: { getTypeParser: parserOf },
  });
  checkFrames(client);
  checkCertificate(client, url);
  const names = statementNames(url);
  let isDirect = false;
  let alive = true;
  let lost: unknown;
  let fail: (error: unknown) => void = () => undefined;
  // An error between two statements has no caller; the next statement meets a connection that is of no use.
  client.on("error", (error) => {
    alive = false;
    lost ??= withCode(error);
    fail(lost);
    client.connection.stream.destroy(); // else the server could send on
  });
  client.on("end", () => {
    alive = false;
  });
  try {
    await client.connect();
  } catch (error) {
    client.connection.stream.destroy();
    throw withCode(error);
  }

  const ask = async <T>(asked: Promise<T>): Promise<T> => {
    let timer: NodeJS.Timeout | undefined;
    const broken = new Promise<never>((_, reject) => {
      fail = reject;
      timer = setTimeout(() => {
        alive = false;
        reject(new DeadlinePassed(silenceMilliseconds));
        client.connection.stream.destroy();
      }, silenceMilliseconds);
    });
    // Whichever loses the race may still reject; it has been reported already.
    asked.catch(() => undefined);
    try {
      return await Promise.race([asked, broken]);
    } catch (driverError) {
      const error = lost ?? driverError; // the driver says only that it has lost the connection
      if (error instanceof Error) Error.captureStackTrace(error); // else it leads to the driver's reading of its socket
      throw error;
    } finally {
      clearTimeout(timer);
    }
  };
  const query: Session["query"] = async <R extends object>(text: string, values: Values = []) => {
    const answer = awaited<R>();
    const [numbered, list] = named(text, values);
    const name = isDirect ? names.nameOf(numbered) : undefined;
    client.query<R>({ text: qualify(numbered), values: [...list], ...(name && { name }) }, answer.take);
    const asked = ask(answer.promise);
    return (await (name ? asked.catch(giveUpOutdated) : asked)).rows;
  };
  const giveUpOutdated = (error: unknown): never => {
    if (names.isOutdated(error)) {
      alive = false;
      client.connection.stream.destroy();
    }
    throw error;
  };
  const script = async (text: string) => {
    const answer = awaited<Row>();
    client.query<Row>({ text: qualify(text) }, answer.take);
    const results: unknown = await ask(answer.promise);
    return (Array.isArray(results) ? results : [results]).map((result: pg.QueryResult<Row>) => result.rows);
  };

  return {
    query,
    script,
    prepareOn(backend) {
      isDirect = backend === client.processID; // a pooler has numbers of its own
    },
    copy: (text, pieces) => ask(pipeline(pieces, client.query(copyFrom(text)))),
    get isAlive() {
      return alive;
    },
    holdProcess(holds) {
      const { stream } = client.connection;
      if (!(stream instanceof Socket)) return;
      if (holds) stream.ref();
      else stream.unref();
    },
    async transaction(settings, first, work) {
      try {
        const opening = await script(`${beginWith(settings, statementMilliseconds)};${first}`);
        const result = await work(opening.at(-1) ?? [], opening);
        await script("COMMIT");
        return result;
      } catch (error) {
        // When not even that works the connection is of no use, and the server rolls back on its own.
        if (alive) {
          await script("ROLLBACK").catch(() => {
            alive = false;
          });
        }
        throw error;
      }
    },
    async close() {
      const ended = alive ? ask(client.end()) : undefined;
      fail = () => undefined; // after the goodbye an error is only the connection's end
      await ended;
      alive = false;
    },
  };
}

/** Works with a session that is being opened, and closes it. */
export async function withSession<T>(opening: Promise<Session>, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await opening;
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

/** Whether a table of this name, quoted and qualified, is there. */
export async function isThere(session: Session, table: string): Promise<boolean> {
  const [found] = await session.query("SELECT to_regclass($1) IS NOT NULL AS made", [table]);
  return found?.["made"] === true;
}

/** By a callback: rows that the driver's own promises gave outlived the quick collections of memory, nearly all of them. */
function awaited<R extends object>() {
  const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult<R>>();
  const take = (error: Error | null, result: pg.QueryResult<R>) => (error ? reject(error) : resolve(result));
  return { promise, take };
}

function beginWith(
  { lockMilliseconds = 0, silence, commitsLater = false }: TransactionSettings,
  statementMilliseconds: number,
): string {
  const settings: Record<string, string> = {
    statement_timeout: String(statementMilliseconds),
    lock_timeout: String(lockMilliseconds),
    // A process that is frozen in between must not hold the customer's rows until its end is noticed.
    idle_in_transaction_session_timeout: String(statementMilliseconds),
    timezone: "UTC",
    datestyle: "ISO, MDY",
    intervalstyle: "postgres",
    ...(commitsLater && { synchronous_commit: "off" }),
    // Triggers that customers wrote for Heroku Connect recognise its writes by `xmlbinary`.
    ...(silence !== undefined && { "bridge.in_sync": silence, xmlbinary: "hex" }),
  };
  const set = Object.entries(settings).map(([name, value]) => `set_config('${name}', ${literal(value)}, true)`);
  return `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;SELECT ${set.join(", ")}`;
}

const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  [pg.types.builtins.BOOL]: (text) => text === "t",
  [pg.types.builtins.INT2]: Number,
  [pg.types.builtins.INT4]: Number,
  [pg.types.builtins.INT8]: exactInteger,
  [pg.types.builtins.FLOAT8]: Number,
  [pg.types.builtins.JSONB]: JSON.parse,
  [pg.types.builtins.JSON]: JSON.parse,
  [pg.types.builtins.TIMESTAMPTZ]: readInstant,
};

/** Everything that is not named above stays text, so that nothing loses precision. */
function parserOf(oid: number): (text: string) => unknown {
  return PARSERS[oid] ?? ((text) => text);
}

function exactInteger(text: string): number | string {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
}
