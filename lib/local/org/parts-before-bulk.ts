import type { KeyObject } from "node:crypto";
import type { Identity } from "./access/bootstrap.ts";
import type { Calls } from "./access/calls.ts";
import type { FieldAccess } from "./access/field-access.ts";
import type { Session, Sessions } from "./access/sessions.ts";
import type { Clock } from "./clock.ts";
import type { Catalog } from "./metadata/catalog.ts";
import type { Release } from "./release.ts";
import type { Dml } from "./saving/dml.ts";
import { NO_HEADERS, type SaveHeaders } from "./saving/save-headers.ts";
import type { Saving } from "./saving/saving.ts";
import type { Faults } from "./simulation/faults.ts";
import { type Latency, savingMilliseconds } from "./simulation/latency.ts";
import { type Mode, refuseByMode } from "./simulation/mode.ts";
import type { OutboundMessages } from "./simulation/outbound-messages.ts";
import type { Committing, Transactions } from "./simulation/transactions.ts";
import type { Queries } from "./soql/query.ts";
import type { Database } from "./store/database.ts";
import type { Records } from "./store/records.ts";

/** All parts but the Bulk API, which is built on them. */
export interface PartsBeforeBulk {
  readonly clock: Clock;
  readonly database: Database;
  readonly catalog: Catalog;
  readonly records: Records;
  readonly queries: Queries;
  readonly dml: Dml;
  readonly outbound: OutboundMessages;
  readonly transactions: Transactions;
  /** Where saves go: the transactions, or the one that an all-or-none composite has open. */
  readonly committing: Committing;
  readonly identity: Identity;
  readonly sessions: Sessions;
  /** Verifies the assertions of the connected app; null: their signatures are not looked at. */
  readonly assertionKey: KeyObject | null;
  readonly calls: Calls;
  readonly release: Release;
  readonly mode: Mode;
  readonly fieldAccess: FieldAccess;
  readonly faults: Faults;
  readonly latency: Latency;
}

/**
 * Saves in a transaction of the session's user; `request` and `object` are what an ordered delay may match, `records` how
 * many it saves.
 */
export function inTransaction<T>(
  parts: PartsBeforeBulk,
  {
    session,
    ids = [],
    idsByKey = () => [],
    request,
    object,
    records = 1,
    isJob = false,
    headers = NO_HEADERS,
  }: {
    session: Session;
    ids?: readonly string[];
    idsByKey?: () => readonly string[];
    request: string;
    object?: string;
    records?: number;
    isJob?: boolean;
    headers?: SaveHeaders;
  },
  work: (saving: Saving) => T,
): Promise<T> {
  const occasion = { request, ...(object === undefined ? {} : { object }) };
  const held = parts.faults.on("heldCommit", occasion);
  return parts.committing.save({
    userId: session.userId,
    ids,
    idsByKey,
    startsInMs: parts.faults.on("lateStart", occasion)?.milliseconds ?? 0,
    holdMs: held?.milliseconds ?? savingMilliseconds(parts.latency, records, isJob),
    beforeRecord: (target, id, values) => {
      refuseByMode(parts.mode, id === null);
      parts.faults.beforeRecord(target, id, values);
    },
    beforeChunk: (target, count, values) => parts.faults.beforeChunk(target, count, values),
    headers,
    work,
  });
}
