import { describe, expect, test } from "vitest";
import {
  type Attempt,
  afterAttempt,
  askForAttempt,
  begin,
  type Delivery,
  isHopeless,
  judge,
  newDelivery,
  nextRetryAt,
  type Outcome,
  reasonOf,
  stop,
  wakeUpsOf,
} from "../../lib/model/delivery/delivery.ts";

const START = new Date("2026-03-01T12:00:00.000Z");
const later = (seconds: number) => new Date(START.getTime() + seconds * 1000);

const fresh = newDelivery({
  id: "dlv_1",
  workspaceId: "ws_1",
  webhookId: "whk_1",
  eventId: "evt_1",
  event: "sync.broken",
  body: "{}",
  createdAt: START,
});

describe("the schedule (contract 3.5, 6.4)", () => {
  test("anything else, and no answer at all, is a failure", () => {
    for (const code of [null, 101, 199, 300, 301, 304, 400, 404, 410, 429, 500, 503, 599]) {
      expect(attempted(fresh, "automatic", code, 0).status).toBe("failed");
    }
  });

  test("a failed manual attempt of a successful delivery schedules nothing", () => {
    const done = attempted(fresh, "automatic", 200, 0);

    const delivery = attempted(askForAttempt(done, later(10)), "manual", 500, 10);

    expect(delivery.status).toBe("failed");
    expect(delivery.nextAttemptAt).toBeNull();
  });

  test("the first attempt is no retry: next_retry_at is null until it has failed", () => {
    expect(nextRetryAt(fresh)).toBeNull();
    expect(nextRetryAt(attempted(fresh, "automatic", 500, 0))).toEqual(later(30));
  });

  test("a schedule that was stopped while its attempt was under way stays stopped", () => {
    const open = begin(fresh, "automatic", START);

    const delivery = ended(stop(open, "the webhook was deleted"), 500, 1);

    expect(delivery.nextAttemptAt).toBeNull();
  });
});

describe("wake-ups", () => {
  const automatic = (number: number) => ({ deliveryId: "dlv_1", kind: "automatic", number }) as const;
  const manual = (number: number) => ({ deliveryId: "dlv_1", kind: "manual", number }) as const;

  test("while an attempt is under way, a second one waits until its claim has ended", () => {
    const open = begin(fresh, "automatic", START);

    expect(judge(open, automatic(1), later(1))).toEqual({ verdict: "wait", until: later(30) });
    expect(judge(open, automatic(1), later(30))).toEqual({ verdict: "attempt" });
  });

  test("two manual requests make two attempts, in whatever order their wake-ups come", () => {
    const asked = askForAttempt(askForAttempt(attempted(fresh, "automatic", 200, 0), later(1)), later(2));

    const once = attempted(asked, "manual", 200, 3);

    expect(judge(asked, manual(2), later(3)).verdict).toBe("attempt");
    expect(judge(once, manual(1), later(3)).verdict).toBe("drop");
    expect(wakeUpsOf(once)).toEqual([manual(2)]);
    expect(wakeUpsOf(attempted(once, "manual", 200, 4))).toEqual([]);
  });

  test("an attempt that was lost with its worker is repeated under a new number and costs no retry", () => {
    const again = begin(begin(fresh, "automatic", START), "automatic", later(30));

    expect(again.latest?.number).toBe(2);
    expect(again.automaticAttempts).toBe(0);
    expect(again.lostAttempts).toBe(1);
  });

  test("workers that always die do not repeat an attempt for ever", () => {
    let delivery = begin(fresh, "automatic", START);
    let repeats = 0;
    for (; !isHopeless(delivery); repeats += 1) delivery = begin(delivery, "automatic", START);

    expect(repeats).toBe(6);
  });
});

test("the history says why an attempt failed: redirects, statuses and silence, and nothing for a success", () => {
  const reasons = [302, 500, null, 204].map((code) => reasonOf(closed(fresh, code)));

  const redirect = "answered 302: redirects are not followed; give the webhook the final URL";
  expect(reasons).toEqual([redirect, "answered 500", "no answer", null]);
});

function attempted(delivery: Delivery, kind: Attempt["kind"], code: number | null, seconds: number): Delivery {
  return ended(begin(delivery, kind, later(seconds)), code, seconds);
}

function ended(open: Delivery, code: number | null, seconds: number): Delivery {
  if (open.latest === null) throw new Error("no attempt is under way");
  return afterAttempt(open, open.latest, outcome(code, seconds));
}

function closed(delivery: Delivery, code: number | null): Attempt {
  const { latest } = attempted(delivery, "automatic", code, 0);
  if (latest === null) throw new Error("no attempt was sent");
  return latest;
}

function outcome(code: number | null, seconds: number): Outcome {
  const problem = code === null ? "no answer" : null;
  return { endedAt: later(seconds), durationMs: 1, code, body: "", truncated: false, problem };
}
