import * as z from "zod";
import type { Clock } from "../clock.ts";
import type { Database, Row } from "../store/database.ts";

/** Notifications of one message at most (Salesforce, Outbound Message Considerations). */
const NOTIFICATIONS = 100;

/** An unacknowledged message is dropped after a day. */
const KEPT_MILLISECONDS = 24 * 3_600_000;

/** The pause after an unacknowledged message, doubled with each, at most two hours. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [5_000, 2 * 3_600_000];

/** A receiver that does not answer is left after so long. */
const ANSWER_MILLISECONDS = 60_000;

/**
 * Flows that send an outbound message whenever a record of their object was created or changed. `fault` makes a
 * doorbell one of the bad kinds: `dead` sends none, `doubled` all of them twice, `lying` drops every second change and
 * sends some of them a second time, for nothing.
 */
export const outboundSchema = z.strictObject({
  messages: z.array(
    z.strictObject({
      object: z.string(),
      url: z.url(),
      fault: z.enum(["dead", "doubled", "lying"]).optional(),
    }),
  ),
});

type Message = z.infer<typeof outboundSchema>["messages"][number];

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
  readonly organizationId: string;
}

/** The org's queue of outbound messages, as durable as its records: written with them, sent after they are committed. */
export class OutboundMessages {
  readonly #parts: Parts;
  readonly #failures = new Map<string, number>();
  readonly #sending = new Set<string>();
  /** When each object's messages are looked at next (epoch milliseconds). */
  readonly #waking = new Map<string, number>();
  #messages: readonly Message[] = [];
  #isStopped = false;
  #number = 0;
  #sent = 0;
  #dropped = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.database.execute(
      "CREATE TABLE IF NOT EXISTS _outbound (id INTEGER PRIMARY KEY, object TEXT NOT NULL, record TEXT NOT NULL, at INTEGER NOT NULL, due INTEGER NOT NULL)",
    );
    const kept = parts.database.first("SELECT value FROM _setting WHERE name = 'outbound'")?.["value"] ?? "[]";
    this.#messages = JSON.parse(String(kept));
    this.look();
  }

  /** What is sent from now on, in the place of what was before. */
  set(messages: readonly Message[]): void {
    this.#messages = messages;
    const sql = "INSERT INTO _setting VALUES ('outbound', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    this.#parts.database.run(sql, JSON.stringify(messages));
    this.look();
  }

  /** The state of the queue. */
  describe() {
    const { waiting, due } =
      this.#parts.database.first("SELECT count(*) AS waiting, min(due) AS due FROM _outbound") ?? {};
    const nextAt = typeof due === "number" ? new Date(due).toISOString() : null;
    return { messages: this.#messages, waiting, nextAt, sent: this.#sent, dropped: this.#dropped };
  }

  /** Notes a saved record, in the transaction that saves it. */
  note(object: string, id: string): void {
    const message = this.#messages.find((one) => one.object.toLowerCase() === object.toLowerCase());
    if (!message || message.fault === "dead") return;
    const now = this.#parts.clock.now().getTime();
    const sql = "INSERT INTO _outbound VALUES (NULL, ?, ?, ?, ?)";
    const lies = message.fault === "lying";
    this.#number += 1;
    if (!lies || this.#number % 2 === 1) this.#parts.database.run(sql, message.object, id, now, now);
    if (lies && this.#number % 3 === 0) this.#parts.database.run(sql, message.object, id, now, now + 7_000);
    // After the transaction, which ends without waiting for anything.
    setImmediate(() => this.look());
  }

  /** Sends what is due; each object's messages one after the other. */
  look(): void {
    for (const message of this.#messages) void this.#send(message);
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #send(message: Message): Promise<void> {
    if (this.#sending.has(message.object) || this.#isStopped) return;
    this.#sending.add(message.object);
    try {
      for (let rows = this.#due(message); rows.length > 0; rows = this.#due(message)) {
        const isAcknowledged = await this.#post(message, rows);
        if (message.fault === "doubled") await this.#post(message, rows);
        if (this.#isStopped) return;
        this.#settle(message, rows, isAcknowledged);
      }
    } finally {
      this.#sending.delete(message.object);
    }
    this.#lookLater(message);
  }

  #due({ object }: Message): Row[] {
    const { database, clock } = this.#parts;
    const now = clock.now().getTime();
    this.#dropped += database.run("DELETE FROM _outbound WHERE object = ? AND at < ?", object, now - KEPT_MILLISECONDS);
    const due = "SELECT * FROM _outbound WHERE object = ? AND due <= ? ORDER BY id LIMIT ?";
    return database.all(due, object, now, NOTIFICATIONS);
  }

  #settle({ object }: Message, rows: readonly Row[], isAcknowledged: boolean): void {
    const { database, clock } = this.#parts;
    const failures = isAcknowledged ? 0 : (this.#failures.get(object) ?? 0) + 1;
    this.#failures.set(object, failures);
    const due = clock.now().getTime() + Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (failures - 1));
    for (const { id = null } of rows) {
      if (isAcknowledged) database.run("DELETE FROM _outbound WHERE id = ?", id);
      else database.run("UPDATE _outbound SET due = ? WHERE id = ?", due, id);
    }
    if (isAcknowledged) this.#sent += 1;
  }

  #lookLater({ object }: Message): void {
    const { database, clock } = this.#parts;
    const next = database.first("SELECT min(due) AS due FROM _outbound WHERE object = ?", object)?.["due"];
    if (typeof next !== "number" || (this.#waking.get(object) ?? Number.POSITIVE_INFINITY) <= next) return;
    this.#waking.set(object, next);
    void clock.sleep(Math.max(1, next - clock.now().getTime())).then(() => {
      this.#waking.delete(object);
      this.look();
    });
  }

  async #post({ object, url }: Message, rows: readonly Row[]): Promise<boolean> {
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "text/xml; charset=utf-8", SOAPAction: '""' },
        body: envelopeOf(this.#parts.organizationId, object, rows),
        signal: AbortSignal.timeout(ANSWER_MILLISECONDS),
      });
      return response.ok && /<(\w+:)?Ack>\s*true\s*</.test(await response.text());
    } catch {
      return false; // not acknowledged: it is sent again
    }
  }
}

function envelopeOf(organizationId: string, object: string, rows: readonly Row[]): string {
  const notifications = rows.map(
    ({ id = null, record = null }) =>
      `<Notification><Id>04l${String(id).padStart(15, "0")}</Id><sObject xsi:type="sf:${object}" xmlns:sf="urn:sobject.enterprise.soap.sforce.com"><sf:Id>${record}</sf:Id></sObject></Notification>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body><notifications xmlns="http://soap.sforce.com/2005/09/outbound"><OrganizationId>${organizationId}</OrganizationId><ActionId>04k000000000001AAA</ActionId><SessionId xsi:nil="true"/>${notifications.join("")}</notifications></soapenv:Body></soapenv:Envelope>`;
}
