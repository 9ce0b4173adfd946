import * as z from "zod";
import type { SObject } from "../metadata/sobject.ts";
import { Refusal } from "../refusal.ts";

const ON_REQUEST = [
  "expiredSession",
  "refusedGrant",
  "limitExceeded",
  "concurrentLimit",
  "unavailable",
  "webPage",
  "serverError",
  "malformedRequest",
  "uriTooLong",
  "resetBeforeAnswer",
  "resetInBody",
  "hang",
  "gate",
  "drip",
  "saveThenDrop",
] as const;

const ON_RECORD = ["lockedRow", "validation"] as const;
const ON_CHUNK = ["governorLimit"] as const;
const ON_DETAIL = [
  "laggingReplication",
  "heldCommit",
  "lateStart",
  "failedJob",
  "abortedJob",
  "expiredLocator",
  "smallBatches",
  "queryTimeout",
  "largeOperation",
  "oldCount",
  "rotatedRefreshToken",
  "missingLocator",
] as const;

/** An order to go wrong: what, where, and how often. */
export const faultSchema = z.strictObject({
  kind: z.enum([...ON_REQUEST, ...ON_RECORD, ...ON_CHUNK, ...ON_DETAIL]),
  /** A regular expression over `METHOD /path?query`. */
  path: z.string().optional(),
  /** An object's name; for request faults, any request that names it in its path or body. */
  object: z.string().optional(),
  /** An id, or a text that some value of the record equals; for request faults, a text that the body holds. */
  record: z.string().optional(),
  /** The first match that fails, counted from 1. */
  nth: z.int().positive().default(1),
  /** How many matches fail from there on; 0 for all. */
  times: z.int().nonnegative().default(1),
  /** For held commits, late starts, hangs, drips and lags. */
  milliseconds: z.int().nonnegative().default(1000),
  /** For small batches: records a page. For queries: strikes those that go through more records. For governor limits: records of one transaction that are not too many. */
  size: z.int().positive().default(1),
  /** For old counts: what they say; null: nothing of the object. */
  count: z.int().nullable().default(0),
  /** For malformed requests: what Salesforce calls it, if not SOAP itself refuses it. For validations: their code. */
  code: z.string().optional(),
  /** For the faults that answer with a text of the org's administrator. */
  message: z.string().optional(),
});

/** A fault as it was ordered, with its defaults. */
export type Fault = z.output<typeof faultSchema>;
/** The faults that strike a whole request. */
export type RequestFaultKind = (typeof ON_REQUEST)[number];

interface ActiveFault {
  readonly id: number;
  readonly fault: Fault;
  readonly path: RegExp | null;
  matches: number;
  /** Settles when a request has come to a gate. */
  readonly reached: PromiseWithResolvers<void>;
  /** Settles when the order is withdrawn, which opens a gate. */
  readonly cleared: PromiseWithResolvers<void>;
}

/** What is being looked at when a fault might strike. */
export interface Occasion {
  readonly request?: string;
  /** The request's body, read only if a fault asks what it names. */
  readonly body?: () => string;
  readonly object?: string;
  /** What a fault's `size` is the most of. */
  readonly size?: number;
  /** Everything that a fault's `record` may be equal to. */
  readonly record?: readonly string[];
}

/** The faults that were ordered, in memory: a restart clears them. */
export class Faults {
  #active: ActiveFault[] = [];
  #count = 0;

  order(fault: Fault): number {
    this.#count++;
    this.#active.push({
      id: this.#count,
      fault,
      path: fault.path === undefined ? null : new RegExp(fault.path),
      matches: 0,
      reached: Promise.withResolvers(),
      cleared: Promise.withResolvers(),
    });
    return this.#count;
  }

  list(): readonly { id: number; fault: Fault; matches: number }[] {
    return this.#active.map(({ id, fault, matches }) => ({ id, fault, matches }));
  }

  clear(id?: number): void {
    const isCleared = (active: ActiveFault) => id === undefined || active.id === id;
    for (const active of this.#active.filter(isCleared)) active.cleared.resolve();
    this.#active = this.#active.filter((active) => !isCleared(active));
  }

  /** Resolves when a request has come to this gate; false: there is no such order. */
  async reached(id: number): Promise<boolean> {
    const active = this.#active.find((one) => one.id === id);
    await active?.reached.promise;
    return active !== undefined;
  }

  /** Waits at a gate until its order is withdrawn. */
  async waitAt(gate: Fault): Promise<void> {
    const active = this.#active.find(({ fault }) => fault === gate);
    active?.reached.resolve();
    await active?.cleared.promise;
  }

  /** The fault that strikes the request as a whole, if one does. */
  onRequest(occasion: Occasion): (Fault & { readonly kind: RequestFaultKind }) | null {
    if (this.#active.length === 0) return null;
    return this.#strike(occasion, ON_REQUEST) as (Fault & { readonly kind: RequestFaultKind }) | null;
  }

  /** The fault of this one kind that strikes here, if one does. */
  on(kind: (typeof ON_DETAIL)[number], occasion: Occasion): Fault | null {
    return this.#active.length === 0 ? null : this.#strike(occasion, [kind]);
  }

  /** Throws the refusal that was ordered for this record. */
  beforeRecord(object: SObject, id: string | null, values: () => readonly string[]): void {
    if (this.#active.length === 0) return;
    const fault = this.#strike({ object: object.name, record: id === null ? values() : [id, ...values()] }, ON_RECORD);
    if (!fault) return;
    if (fault.kind === "lockedRow") {
      throw new Refusal(
        "UNABLE_TO_LOCK_ROW",
        fault.message ?? `unable to obtain exclusive access to this record or 1 records: ${id ?? ""}`,
      );
    }
    throw new Refusal(
      fault.code ?? "FIELD_CUSTOM_VALIDATION_EXCEPTION",
      fault.message ?? "This record was refused on demand.",
    );
  }

  /** Throws what a trigger throws that can bear no more records of one transaction, or one of these, which is too heavy for it. */
  beforeChunk(object: SObject, records: number, values: () => readonly string[]): void {
    if (this.#active.length === 0) return;
    const fault = this.#strike({ object: object.name, size: records, record: values() }, ON_CHUNK);
    if (!fault) return;
    const limit = fault.message ?? "Apex CPU time limit exceeded";
    const message = `${object.name}Trigger: System.LimitException: ${limit}`;
    throw new Refusal(fault.code ?? "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", message);
  }

  #strike(occasion: Occasion, kinds: readonly Fault["kind"][]): Fault | null {
    for (const active of this.#active) {
      const { fault } = active;
      if (!kinds.includes(fault.kind) || !isMatch(active, occasion)) continue;
      active.matches++;
      const last = fault.times === 0 ? Number.POSITIVE_INFINITY : fault.nth + fault.times - 1;
      if (active.matches >= fault.nth && active.matches <= last) return fault;
    }
    return null;
  }
}

function isMatch({ fault, path }: ActiveFault, { request, body, object, record, size }: Occasion): boolean {
  if (size !== undefined && fault.record === undefined && size <= fault.size) return false;
  if (path && !path.test(request ?? "")) return false;
  if (fault.record !== undefined && !(record ?? body?.() ?? "").includes(fault.record)) return false;
  if (fault.object === undefined) return true;
  return object === undefined
    ? new RegExp(`\\b${fault.object}\\b`, "i").test(`${request ?? ""} ${body?.() ?? ""}`)
    : object.toLowerCase() === fault.object.toLowerCase();
}
