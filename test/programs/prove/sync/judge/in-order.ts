import type { Deed, Evidence, Held, Logged, Save } from "./evidence.ts";
import { judge } from "./judge.ts";

export const TABLE = "thing__c";
export const TAG = "h1-1";

export const held = (values: Held["values"], more: Partial<Held> = {}): Held => ({
  table: TABLE,
  id: "a01000000000001",
  sfid: "a01000000000001",
  tag: TAG,
  values: { here__c: null, there__c: null, both__c: null, ...values },
  ...more,
});

export const deed = (action: Deed["action"], values: Deed["values"], at: number, more: Partial<Deed> = {}): Deed => ({
  table: TABLE,
  tag: TAG,
  recordId: 1,
  action,
  values,
  begunAt: at,
  endedAt: at,
  isSure: true,
  ...more,
});

export const logged = (id: number, action: string, values: Logged["values"], more: Partial<Logged> = {}): Logged => ({
  id,
  table: TABLE,
  recordId: 1,
  action,
  state: "SUCCESS",
  message: null,
  values,
  ...more,
});

export const save = (values: Save["values"], sentAt: number, more: Partial<Save> = {}): Save => ({
  table: TABLE,
  operation: "upsert",
  sfid: "a01000000000001",
  tag: TAG,
  values,
  sentAt,
  answeredAt: sentAt + 1,
  success: true,
  sender: 7,
  wasHeld: false,
  ...more,
});

/** A row that the application inserted and changed once, in order on both sides and in all books. */
export const inOrder: Evidence = {
  rows: [held({ here__c: "h2", both__c: "h1" }, { id: "1" })],
  records: [{ ...held({ here__c: "h2", both__c: "h1" }), isDeleted: false }],
  log: [logged(1, "INSERT", { here__c: "h1", both__c: "h1" }), logged(2, "UPDATE", { here__c: "h2" })],
  totals: [{ table: TABLE, success: 2, failed: 0 }],
  retried: [],
  conflicts: [],
  announced: [],
  waitingToBeAnnounced: [],
  heard: [],
  application: [deed("insert", { here__c: "h1", both__c: "h1" }, 1), deed("update", { here__c: "h2" }, 2)],
  uncaptured: [],
  merged: [],
  colleagues: [],
  seen: [],
  saves: [save({ here__c: "h1", both__c: "h1" }, 10), save({ here__c: "h2" }, 20)],
  lateReports: [],
  struck: [],
  restored: [],
  calls: { engine: { SOAP: 2 }, wire: { SOAP: 2 }, org: 2, isQuiet: true },
};

export const complaints = (change: Partial<Evidence>) => judge({ ...inOrder, ...change }).map(({ name }) => name);

export const colleague = (action: Deed["action"], values: Deed["values"], at: number, more: Partial<Deed> = {}) =>
  deed(action, values, at, { recordId: null, ...more });
