import { createPublicKey } from "node:crypto";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { lockFolder } from "../folder-lock.ts";
import { originOf } from "../origin.ts";
import { bootstrap } from "./access/bootstrap.ts";
import { Calls } from "./access/calls.ts";
import { FieldAccess } from "./access/field-access.ts";
import { Sessions } from "./access/sessions.ts";
import { Door } from "./answer-request.ts";
import { Bulk } from "./bulk/bulk.ts";
import { type Clock, systemClock } from "./clock.ts";
import { type Answerer, makeServer, sendPlainly, type Tls } from "./http/server.ts";
import { BASE_DEFINITION } from "./metadata/base-definition.ts";
import { Catalog } from "./metadata/catalog.ts";
import { applyDefinition, type Definition } from "./metadata/definition.ts";
import { withRecordTypeIds } from "./metadata/record-types.ts";
import { SALES_OBJECTS } from "./metadata/standard-sales.ts";
import { SERVICE_OBJECTS } from "./metadata/standard-service.ts";
import type { Parts } from "./parts.ts";
import { currentRelease } from "./release.ts";
import { Dml } from "./saving/dml.ts";
import { answerControl } from "./simulation/controls.ts";
import { Faults } from "./simulation/faults.ts";
import { answerOrFail } from "./simulation/faulty-server.ts";
import { Journal } from "./simulation/journal.ts";
import { type Latency, NO_LATENCY } from "./simulation/latency.ts";
import { usualMode } from "./simulation/mode.ts";
import { OutboundMessages } from "./simulation/outbound-messages.ts";
import { ShiftedClock } from "./simulation/shifted-clock.ts";
import { Transactions } from "./simulation/transactions.ts";
import { defineFormulas } from "./soql/formulas.ts";
import { loadParser } from "./soql/parse-soql.ts";
import { Queries } from "./soql/query.ts";
import { javaDouble } from "./soql/render.ts";
import { folded } from "./soql/where.ts";
import { Database } from "./store/database.ts";
import { Records } from "./store/records.ts";
import { createTables } from "./store/schema.ts";

/** How an org is started. Everything it keeps lies in `dataDir`. */
export interface OrgOptions {
  readonly dataDir: string;
  /** 0 picks a free one. */
  readonly port?: number;
  /** 127.0.0.1 unless said otherwise. */
  readonly host?: string;
  readonly clock?: Clock;
  /** Calls per rolling 24 hours; a Developer org's 15,000 unless said otherwise. */
  readonly dailyApiRequests?: number;
  /** How long saves take; left out: as long as this machine takes. */
  readonly latency?: Latency;
  /** Objects, fields and rules beyond the standard ones. */
  readonly definition?: Definition;
  /** Opens the control endpoints under `/_sim`, which order faults for the administrator's access token. */
  readonly controls?: boolean;
  readonly tls?: Tls;
  /** The certificate or public key (PEM) of clients that use assertions; without it no signature is checked. */
  readonly assertionKey?: string;
}

/** A running org and how to come in; all of it stays the same over restarts. */
export interface Org {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** The administrator's token, which never expires. */
  readonly accessToken: string;
  readonly organizationId: string;
  /** The administrator. */
  readonly userId: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Stops listening, ends open requests and closes the file. */
  close(): Promise<void>;
}

const DEVELOPER_ALLOWANCE = 15_000;

/** Starts the embedded Salesforce org: REST, SOAP partner and Bulk API 2.0 over one durable store, which it owns alone. */
export async function startOrg(options: OrgOptions): Promise<Org> {
  const closers: (() => unknown)[] = [lockFolder(options.dataDir).release];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    return { ...(await opened(options, closers)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function opened(options: OrgOptions, closers: (() => unknown)[]): Promise<Omit<Org, "close">> {
  const clock = new ShiftedClock(options.clock ?? systemClock);
  const database = new Database(join(options.dataDir, "org.db"));
  closers.push(() => database.close());
  const parts = assemble(options, clock, database);
  closers.push(() => parts.bulk.stop());
  closers.push(() => parts.outbound.stop());
  const server = makeServer(clock, options.tls ?? null, answererOf(parts, clock, options.controls ?? false));
  const host = options.host ?? "127.0.0.1";
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(options.port ?? 0, host, resolve));
  closers.push(() => stopped(server));
  // The parser takes longer to load than all the rest; it is loaded once the org already answers.
  setImmediate(loadParser);
  const { username, password, accessToken, organizationId, userId, clientId, clientSecret } = parts.identity;
  const { port } = server.address() as AddressInfo;
  return {
    url: originOf(options.tls ? "https" : "http", host, port),
    username,
    password,
    accessToken,
    organizationId,
    userId,
    clientId,
    clientSecret,
  };
}

function stopped(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  return closed;
}

/** What answers requests: the door alone, or with the controls in front of it. */
function answererOf(parts: Parts, clock: ShiftedClock, withControls: boolean): Answerer {
  const door = new Door(parts);
  if (!withControls) return async (call) => ({ reply: await door.answer(call), send: sendPlainly });
  const journal = new Journal();
  return async (call) => {
    if (/^\/_sim(\/|$)/.test(call.path))
      return { reply: await answerControl({ parts, journal, clock }, call), send: sendPlainly };
    return await answerOrFail(parts, journal, (asked) => door.answer(asked), call);
  };
}

function assemble(options: OrgOptions, clock: Clock, database: Database): Parts {
  const catalog = catalogOf(options.definition);
  database.define("fold", (value = null) => folded(value));
  database.define("java_double", (value = null) => (value === null ? null : javaDouble(Number(value))));
  createTables(database, catalog, clock.now());
  defineFormulas(database, catalog, clock);
  const records = new Records(database);
  const identity = bootstrap({ database, records, catalog, clock });
  const transactions = new Transactions({ database, clock });
  const outbound = new OutboundMessages({ database, clock, organizationId: identity.organizationId });
  const parts = {
    clock,
    database,
    catalog,
    records,
    queries: new Queries({ database, catalog, clock }),
    dml: new Dml({ database, records, catalog, saved: (object, id) => outbound.note(object, id) }),
    outbound,
    transactions,
    committing: transactions,
    identity,
    sessions: new Sessions({ database, clock, identity }),
    assertionKey: options.assertionKey === undefined ? null : createPublicKey(options.assertionKey),
    calls: new Calls({ database, clock, allowance: options.dailyApiRequests ?? DEVELOPER_ALLOWANCE }),
    release: currentRelease(),
    mode: usualMode(),
    fieldAccess: new FieldAccess(),
    faults: new Faults(),
    latency: options.latency ?? NO_LATENCY,
  };
  return { ...parts, bulk: new Bulk(parts, join(options.dataDir, "bulk")) };
}

/** The standard objects, what every embedded org adds to them, and the given definition on top. */
function catalogOf(definition: Definition | undefined): Catalog {
  const base = applyDefinition([...SALES_OBJECTS, ...SERVICE_OBJECTS], BASE_DEFINITION);
  return new Catalog(withRecordTypeIds(definition ? applyDefinition(base, definition) : base));
}
