import { Client } from "pg";
import { cycleStoreOn } from "../../../lib/adapters/postgres/cycle-store.ts";
import { createProvisioner } from "../../../lib/adapters/postgres/schema/provision.ts";
import { openSession } from "../../../lib/adapters/postgres/session/session.ts";
import type { Session } from "../../../lib/adapters/postgres/session/sql.ts";
import { herokuConnect } from "../../../lib/heroku-connect/heroku-connect.ts";
import type { ClaimedChange } from "../../../lib/model/change/change.ts";
import type { TableShape } from "../../../lib/model/mapping/shape.ts";
import type { Image } from "../../../lib/model/record/record.ts";
import type { CycleStore } from "../../../lib/sync/ports/cycle-ports.ts";
import type { Lease } from "../../../lib/sync/ports/lease-ports.ts";
import type { Page } from "../../../lib/sync/ports/pull-ports.ts";
import type { PushOutcome } from "../../../lib/sync/ports/push-ports.ts";
import { createTestDatabase, type TestDatabase } from "../../support/worlds/postgres.ts";
import { contactShape, mappingOf } from "../../support/worlds/shapes.ts";

/** A customer's database with a mapped contact table, and the service's way into it. */
export type Customer = Awaited<ReturnType<typeof createCustomer>>;

export type Row = Record<string, unknown>;

/** Resolves once some connection to this database waits for a lock. */
export async function untilSomebodyWaits(observer: Client): Promise<void> {
  for (;;) {
    const { rows } = await observer.query(
      "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    if (rows.length > 0) return;
  }
}

/** Makes the database, by default with its table, or as a copy of another one. */
export async function createCustomer({
  shape = contactShape(),
  provisioned = true,
  like,
}: {
  readonly shape?: TableShape;
  readonly provisioned?: boolean;
  readonly like?: TestDatabase;
} = {}) {
  const copied = like ?? (provisioned ? await provisionedOnce(shape) : undefined);
  const database = await createTestDatabase(copied ? { like: copied } : {});
  const clients: Client[] = [];
  const stores: CycleStore[] = [];
  const connection = { url: database.url, schema: shape.schema };
  const open = async (connectionString: string) => {
    const client = new Client({ connectionString });
    client.on("error", () => undefined);
    await client.connect();
    clients.push(client);
    return client;
  };
  const connect = (as?: { readonly user: string; readonly password: string }) => {
    const url = new URL(database.url);
    return open(Object.assign(url, as && { username: as.user, password: as.password }).href);
  };
  let superuser: Promise<Client> | undefined;
  const application = await connect();
  let now = new Date(START);
  const provisioner = createProvisioner(connection, () => now, herokuConnect);
  const sql = async (text: string, values: readonly unknown[] = []): Promise<readonly Row[]> =>
    (await application.query<Row>(text, [...values])).rows;
  const store = async (before: (statement: string) => Promise<void> = async () => undefined) => {
    const session = await openSession(connection);
    const stepwise = new Proxy(session, {
      get: (target, name: keyof Session) => {
        if (!["query", "script", "copy"].includes(name)) return target[name];
        const run = target[name] as (text: string, ...more: readonly unknown[]) => Promise<unknown>;
        return async (text: string, ...more: readonly unknown[]) => before(text).then(() => run(text, ...more));
      },
    });
    const opened = cycleStoreOn(stepwise, shape.schema, () => now);
    stores.push(opened);
    return opened;
  };

  return {
    url: database.url,
    shape,
    /** The application's connection, as the owner of everything. */
    application,
    /** Rows of one statement of the application. */
    sql,
    /** The same of a superuser, for what needs one: roles, extensions, statistics, settings of the server. */
    asSuperuser: async (text: string, values: readonly unknown[] = []): Promise<readonly Row[]> => {
      superuser ??= open(database.superuserUrl);
      return (await (await superuser).query<Row>(text, [...values])).rows;
    },
    /** Another connection of the application, for a transaction of its own. */
    connect,
    /** `before` is awaited before every statement of the store. */
    store,
    /** A store that holds a cycle's lease. */
    async cycle({
      work = "cycle",
      before,
    }: {
      readonly work?: Lease["work"];
      readonly before?: Parameters<typeof store>[0];
    } = {}) {
      const opened = await store(before);
      const { mappingId } = shape;
      const version = await sql(`SELECT config_version FROM ${shape.schema}._bridge_state WHERE mapping_id = $1`, [
        mappingId,
      ]);
      const configVersion = Number(version[0]?.["config_version"]);
      const begun = await opened.begin({
        mappingId,
        work,
        configVersion,
        owner: "a test",
        slot: null,
        leaseSeconds: 30,
      });
      if (!begun.held) throw new Error(`the lease is not free: ${begun.why}`);
      return { store: opened, lease: begun.lease, begun };
    },
    provision: (more: Partial<TableShape> = {}) =>
      provisioner.provision(mappingOf({ ...shape, ...more }), { ...shape, ...more }),
    retire: () => provisioner.retire(mappingOf(shape)),
    /** The service's time; moved by assigning. */
    get now() {
      return now;
    },
    set now(later: Date) {
      now = later;
    },
    async close() {
      await expectPendingNamed(sql);
      await Promise.all(stores.map((one) => one.close().catch(() => undefined)));
      await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
      await database.close();
    },
  };
}

/** The service's time when a customer's table is created. */
const START = new Date("2026-11-20T12:00:00Z");

/**
 * Databases to copy by the shape of their table: making a table takes three times as long as copying it. They are there
 * for all files of this process, and go with the run's server.
 */
const made = new Map<string, Promise<TestDatabase>>();

function provisionedOnce(shape: TableShape): Promise<TestDatabase> {
  const key = JSON.stringify(shape);
  const make = async () => {
    const database = await createTestDatabase();
    const connection = { url: database.url, schema: shape.schema };
    await createProvisioner(connection, () => START, herokuConnect).provision(mappingOf(shape), shape);
    return database;
  };
  const database = made.get(key) ?? make();
  made.set(key, database);
  return database;
}

/** Whatever a test has done, no change is PENDING that `_bridge_in_hand` does not name: it would never be found. */
async function expectPendingNamed(ask: (text: string) => Promise<readonly Row[]>): Promise<void> {
  const [made] = await ask("SELECT to_regclass('salesforce._bridge_in_hand') IS NOT NULL AS made");
  if (made?.["made"] !== true) return;
  const lost = await ask(`
    SELECT id, table_name FROM salesforce._trigger_log
    WHERE state = 'PENDING' AND id NOT IN (SELECT unnest(ids) FROM salesforce._bridge_in_hand)`);
  if (lost.length > 0) throw new Error(`PENDING changes that nothing names: ${JSON.stringify(lost)}`);
}

/** `003000000000001AAA` for 1. */
export const sfidOf = (number: number): string => `003${String(number).padStart(12, "0")}AAA`;

/** The org's time, so many seconds after a fixed moment. */
export const orgTime = (seconds: number): Date => new Date(Date.UTC(2026, 10, 20, 12, 0, seconds));

/** A record as the org shows it at that second. */
export function image(number: number, seconds: number, values: Image["values"], isDeleted = false): Image {
  return { sfid: sfidOf(number), systemModstamp: orgTime(seconds), isDeleted, values };
}

/** A page of the fast lane, read a minute after the last stamp by default. */
export function page(images: readonly Image[], more: Partial<Page> = {}): Page {
  const latest = Math.max(orgTime(0).getTime(), ...images.map(({ systemModstamp }) => systemModstamp.getTime()));
  return { images, readAt: new Date(latest + 60_000), lane: "fast", marks: {}, ...more };
}

/** Claims everything, and lets Salesforce accept it with these sfids. */
export async function pushAll(
  { store, lease }: { readonly store: CycleStore; readonly lease: Lease },
  sfidFor: (change: ClaimedChange) => string | null,
  answeredAt: Date,
): Promise<readonly ClaimedChange[]> {
  const changes = await store.claim(lease, 1_000);
  await store.markSent(
    lease,
    "batch",
    changes.map(({ id }) => id),
  );
  await store.settle(
    lease,
    changes.map((change) => acceptedAt(answeredAt)({ ...change, sfid: change.sfid ?? sfidFor(change) })),
  );
  return changes;
}

type Taken = Pick<ClaimedChange, "id" | "recordId" | "action" | "sfid">;

/** What Salesforce says of a change that it took, answered at such a time. */
export const acceptedAt =
  (answeredAt: Date) =>
  ({ id, recordId, action, sfid }: Taken): PushOutcome => ({
    kind: "accepted",
    changeIds: [id],
    recordId,
    action,
    sfid,
    answeredAt,
  });

export const accepted = acceptedAt(orgTime(5));

/** The same of a new row, whose record has its number. */
export const created = (change: Taken): PushOutcome => accepted({ ...change, sfid: sfidOf(change.recordId) });

/** Ends the sessions that are kept for the next request: their counts are stored when they are gone. */
export async function endKeptSessions({ sql }: Pick<Customer, "sql">): Promise<void> {
  const kept = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'bridge'";
  await sql(`SELECT pg_terminate_backend(pid) ${kept}`);
  while ((await sql(`SELECT 1 ${kept}`)).length > 0);
}

/**
 * Reads of the log count from now on. The application's connection lets its counts wait: from 15 on it can be asked for
 * them, before it shows them with a statement half a second later. Those of others come when they end.
 */
export async function forgetReads({ sql, asSuperuser }: Pick<Customer, "sql" | "asSuperuser">): Promise<void> {
  const one = async (expression: string, values: readonly unknown[] = []) =>
    (await sql(`SELECT ${expression} AS is`, values))[0]?.["is"];
  const canFlush = await one("to_regprocedure('pg_stat_force_next_flush()') IS NOT NULL");
  const begun = await one("clock_timestamp()");
  if (canFlush) await one("pg_stat_force_next_flush()::text");
  else while (!(await one("clock_timestamp() > $1::timestamptz + interval '0.6 s'", [begun])));
  // Before 15 counts of half a second ago are shown, also after they were reset.
  const resetAt = () => one("(SELECT stats_reset::text FROM pg_stat_database WHERE datname = current_database())");
  const before = await resetAt();
  await asSuperuser("SELECT pg_stat_reset()");
  while ((await resetAt()) === before);
}

/** How many rows of the log were read since `forgetReads`, by what is over: a connection shows its counts when it ends. */
export async function rowsReadOfTheLog({ sql }: Pick<Customer, "sql">): Promise<number> {
  await endKeptSessions({ sql });
  for (;;) {
    const [row] = await sql(
      `SELECT seq_scan + idx_scan AS scans, (seq_tup_read + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i
         WHERE i.relid = t.relid))::int AS rows
       FROM pg_stat_user_tables t WHERE relname = '_trigger_log'`,
    );
    if (Number(row?.["scans"]) > 0) return Number(row?.["rows"]);
  }
}
