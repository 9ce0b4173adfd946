import type { Action, ClaimedChange, State } from "../../../lib/model/change/change.ts";
import type { TableShape } from "../../../lib/model/mapping/shape.ts";
import type { CycleStore } from "../../../lib/sync/ports/cycle-ports.ts";
import type { Doubt, Recovered } from "../../../lib/sync/ports/doubt-ports.ts";
import { type BeginRequest, type Begun, type Lease, LeaseLost } from "../../../lib/sync/ports/lease-ports.ts";
import type { LateSave, PushOutcome } from "../../../lib/sync/ports/push-ports.ts";
import type { ModelClock } from "./model-clock.ts";
import { partOf } from "./model-org.ts";

interface Change {
  readonly id: number;
  readonly action: Action;
  readonly recordId: number;
  readonly capturedAt: Date;
  values: Readonly<Record<string, string | null>>;
  state: State;
  sfid: string | null;
  fence: number | null;
  batchId: string | null;
  sentAt: Date | null;
  dueAt: Date | null;
  attempts: number;
  /** Rises with everything that is written to it. */
  version: number;
}

interface Row {
  readonly recordId: number;
  name: string;
  sfid: string | null;
}

/** One mapping's tables as a model of the statements in `lib/adapters/postgres`: each is one step here, done at once. */
export class ModelStore {
  readonly #clock: ModelClock;
  readonly #shape: TableShape;
  readonly rows = new Map<number, Row>();
  readonly log: Change[] = [];
  /** Dangers that this store has seen, so that a test can say that they were met. */
  readonly met = { doubts: 0, lostLeases: 0, takenOver: 0 };
  #fence = 0;
  #leaseUntil = 0;

  constructor(clock: ModelClock, shape: TableShape) {
    this.#clock = clock;
    this.#shape = shape;
  }

  /** What an application does to a row, captured as the triggers would. Each value is new: `v7` by change 7. */
  write(recordId: number, action: "write" | "delete"): void {
    const row = this.rows.get(recordId);
    if (action === "delete") {
      if (row) this.#capture("DELETE", recordId, {}, row.sfid);
      this.rows.delete(recordId);
      return;
    }
    const name = `v${this.log.length + 1}`;
    if (row) {
      row.name = name;
      this.#capture("UPDATE", recordId, { lastname: name }, row.sfid);
      return;
    }
    this.rows.set(recordId, { recordId, name, sfid: null });
    const key = this.#shape.upsertField === null ? {} : { key__c: `K-${recordId}-${this.log.length + 1}` };
    this.#capture("INSERT", recordId, { lastname: name, ...key }, null);
  }

  /** What a page of long work does to a row whose last change waits: what will be sent is another value from then on. */
  merge(recordId: number): void {
    const row = this.rows.get(recordId);
    const last = this.log.findLast((change) => change.recordId === recordId);
    if (!row || last?.state !== "NEW") return;
    row.name = `m${last.id}.${last.version + 1}`;
    write(last, { values: { ...last.values, lastname: row.name } });
  }

  #capture(action: Action, recordId: number, values: Change["values"], sfid: string | null): void {
    const id = this.log.length + 1;
    const capturedAt = new Date(this.#clock.now());
    const unsent = { state: "NEW", fence: null, batchId: null, sentAt: null, dueAt: null } as const;
    this.log.push({ id, action, recordId, values, capturedAt, sfid, ...unsent, attempts: 0, version: 0 });
  }

  isSettled(): boolean {
    return this.log.every(({ state }) => state === "SUCCESS" || state === "FAILED");
  }

  /** The store of one cycle; `step` is awaited before and after each statement. */
  opened(step: (label: string) => Promise<void>): CycleStore {
    const statement = async <Answer>(label: string, run: () => Answer): Promise<Answer> => {
      await step(`${label} asked`);
      const answer = run();
      await step(`${label} answered`);
      return answer;
    };
    return partOf<CycleStore>({
      begin: (request) => statement("begin", () => this.#begin(request)),
      renew: (lease) => statement("renew", () => this.#renew(lease)),
      recover: (lease) => statement("recover", () => this.#recover(lease)),
      claim: (lease) => statement("claim", () => this.#claim(lease)),
      markSent: (lease, batchId, ids) => statement("mark", () => this.#renewAndMark(lease, batchId, ids)),
      settle: (lease, outcomes) => statement("settle", () => this.#settle(lease, outcomes)),
      requeueOverwritten: (_, saves) => statement("send again", () => this.#sendAgain(saves)),
      release: (lease, ids) => statement("release", () => this.#release(lease, ids)),
      owned: (_, sfids) =>
        statement("owned", () => sfids.filter((sfid) => [...this.rows.values()].some((row) => row.sfid === sfid))),
      knownSfids: (_, sfids) =>
        statement("accept", () =>
          sfids.filter((sfid) => this.log.some((change) => change.sfid === sfid && change.state === "SUCCESS")),
        ),
      finish: (lease) => statement("finish", () => this.#finish(lease)),
      close: async () => undefined,
    });
  }

  #begin({ mappingId, work, configVersion, owner, leaseSeconds }: BeginRequest): Begun {
    if (this.#leaseUntil > this.#clock.now()) return { held: false, why: "running" };
    if (this.#leaseUntil > 0) this.met.takenOver += 1;
    this.#fence += 1;
    this.#leaseUntil = this.#clock.now() + leaseSeconds * 1000;
    return {
      held: true,
      lease: { mappingId, work, fence: this.#fence, owner, configVersion },
      shape: this.#shape,
      logId: this.log.length,
      captureOff: null,
      marks: { position: null, slow: null, deleted: null, lanes: {}, load: null },
      lastPullAt: null,
      waiting: {
        changes: this.log.some((change) => this.#isDue(change)),
        unfinished: this.log.some(({ state }) => state === "PENDING"),
        outbox: false,
      },
      heldDeletes: 0,
      rereads: [],
      restores: [],
    };
  }

  #renew({ fence }: Lease): "held" | "lost" {
    if (fence !== this.#fence) {
      this.met.lostLeases += 1;
      return "lost";
    }
    this.#leaseUntil = this.#clock.now() + 30_000;
    return "held";
  }

  #check(lease: Lease): void {
    if (lease.fence !== this.#fence) throw new LeaseLost(lease);
  }

  #recover(lease: Lease): Recovered {
    this.#check(lease);
    const pending = this.log.filter(({ state }) => state === "PENDING");
    for (const change of pending) {
      if (change.sentAt !== null) change.fence = lease.fence;
      else if (change.fence !== lease.fence) giveBack(change);
    }
    const doubtful = pending.filter(({ state, sentAt }) => state === "PENDING" && sentAt !== null);
    this.met.doubts += doubtful.length;
    const groups = Map.groupBy(doubtful, ({ batchId, recordId }) => `${batchId} ${recordId}`);
    const doubts = [...groups.values()].map((ofOne): Doubt => {
      const changes = ofOne.map((change) => this.#claimed(change));
      return { changes, sentAt: ofOne[0]?.sentAt ?? new Date(0), batchId: String(ofOne[0]?.batchId) };
    });
    return { doubts, jobs: [] };
  }

  #claim(lease: Lease): ClaimedChange[] {
    this.#check(lease);
    const blocked = new Set(
      this.log
        .filter(({ state, dueAt }) => state === "PENDING" || (state === "NEW" && isLater(dueAt, this.#clock)))
        .map(({ recordId }) => recordId),
    );
    const free = this.log.filter((change) => this.#isDue(change) && !blocked.has(change.recordId));
    for (const change of free) write(change, { state: "PENDING", fence: lease.fence, batchId: null, sentAt: null });
    return free.map((change) => this.#claimed(change));
  }

  #isDue({ state, dueAt }: Change): boolean {
    return state === "NEW" && !isLater(dueAt, this.#clock);
  }

  #claimed({ id, action, recordId, values, attempts, capturedAt, sfid }: Change): ClaimedChange {
    const now = action === "DELETE" ? sfid : (this.rows.get(recordId)?.sfid ?? sfid);
    return { id, action, recordId, sfid: now, old: {}, values, attempts, capturedAt };
  }

  #renewAndMark(lease: Lease, batchId: string, ids: readonly number[]): "held" | "lost" {
    const answer = this.#renew(lease);
    if (answer === "lost") return answer;
    for (const change of this.#all(lease, ids)) write(change, { batchId, sentAt: new Date(this.#clock.now()) });
    return answer;
  }

  /** These changes, of which the lease must hold each. */
  #all(lease: Lease, ids: readonly number[]): Change[] {
    this.#check(lease);
    const own = this.#own(lease, ids);
    if (own.length < ids.length) throw new LeaseLost(lease);
    return own;
  }

  #own(lease: Lease, ids: readonly number[]): Change[] {
    const wanted = new Set(ids);
    return this.log.filter(({ id, state, fence }) => wanted.has(id) && state === "PENDING" && fence === lease.fence);
  }

  #settle(lease: Lease, outcomes: readonly PushOutcome[]): void {
    for (const outcome of outcomes)
      for (const change of this.#all(lease, outcome.changeIds)) this.#recordOutcome(change, outcome);
  }

  #recordOutcome(change: Change, outcome: PushOutcome): void {
    const sent = { fence: null, batchId: null, sentAt: null };
    if (outcome.kind === "retry") {
      const dueAt = new Date(this.#clock.now() + outcome.afterSeconds * 1000);
      const attempts = change.attempts + (outcome.counts ? 1 : 0);
      write(change, { ...sent, state: "NEW", dueAt, attempts });
      return;
    }
    write(change, { ...sent, state: outcome.kind === "refused" ? "FAILED" : "SUCCESS" });
    if (outcome.kind !== "accepted" || outcome.sfid === null) return;
    change.sfid = outcome.sfid;
    // The record is gone: whatever has the row's key since then is another row.
    if (change.action === "DELETE") return;
    const row = this.rows.get(change.recordId);
    const end = this.log.find(({ id, action, recordId, state }) => {
      const waits = state === "NEW" || state === "PENDING";
      return id > change.id && action === "DELETE" && recordId === change.recordId && waits;
    });
    if (end) end.sfid ??= outcome.sfid;
    else if (row) row.sfid = outcome.sfid;
  }

  /** Names differ with every change, so any later one of the row was undone. */
  #sendAgain(saves: readonly LateSave[]): { readonly again: number; readonly underWay: number } {
    const count = { again: 0, underWay: 0 };
    for (const { changeIds, recordId } of saves) {
      const last = Math.max(...changeIds);
      const isSettled = this.log.every(({ id, state }) => !changeIds.includes(id) || state === "SUCCESS");
      const newer = this.log.filter((change) => change.recordId === recordId && change.id > last);
      // The row has gone since; here no upsert makes a deleted record again.
      if (!isSettled || newer.some(({ action }) => action === "DELETE")) continue;
      for (const change of newer) {
        if (change.state === "PENDING") count.underWay += 1;
        if (change.state !== "SUCCESS") continue;
        giveBack(change);
        count.again += 1;
      }
    }
    return count;
  }

  #release(lease: Lease, ids: readonly number[]): void {
    if (lease.fence !== this.#fence) return;
    for (const change of this.#own(lease, ids)) giveBack(change);
  }

  #finish(lease: Lease) {
    this.#check(lease);
    this.#leaseUntil = 0;
    return {
      rowsSynced: 0,
      rowsFailed: 0,
      apiCalls: {},
      queueDepth: 0,
      oldestWaitingSeconds: 0,
      outboxWaits: false,
      refusedWriteBacks: { rows: 0, sqlState: null },
    };
  }
}

function write(change: Change, written: Partial<Change>): void {
  Object.assign(change, written, { version: change.version + 1 });
}

function giveBack(change: Change): void {
  write(change, { state: "NEW", fence: null, batchId: null, sentAt: null });
}

const isLater = (dueAt: Date | null, clock: ModelClock) => dueAt !== null && dueAt.getTime() > clock.now();
