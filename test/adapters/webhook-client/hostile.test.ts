import { type ChildProcess, fork } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { webhookSender } from "../../../lib/adapters/webhook-client/post.ts";
import { resolveByDns } from "../../../lib/adapters/webhook-client/resolve.ts";
import { DEVELOPMENT } from "../../../lib/model/address.ts";
import { type DnsServer, startDnsServer } from "../../support/doubles/dns-server.ts";
import type { HostileReceiver } from "../../support/processes/hostile-receivers.ts";

let dns: DnsServer;
let receivers: ChildProcess;
let ports: Readonly<Record<HostileReceiver, number>>;

beforeAll(async () => {
  dns = await startDnsServer({ "silent.test": "silent", "gone.test": [] });
  receivers = fork(join(import.meta.dirname, "../../support/processes/hostile-receivers.ts"));
  [ports] = await once(receivers, "message");
});

afterAll(async () => {
  receivers.disconnect();
  await once(receivers, "exit");
  await dns.close();
});

const post = (url: string) =>
  webhookSender({ policy: DEVELOPMENT, resolve: resolveByDns([dns.address]) }).post({ url, headers: {}, body: "{}" });

const postTo = (receiver: HostileReceiver) => post(`http://127.0.0.1:${ports[receiver]}/`);

/** The next request that the receiver takes. */
async function takenBy(receiver: HostileReceiver): Promise<void> {
  for (;;) {
    const [{ taken }] = (await once(receivers, "message")) as [{ taken: HostileReceiver }];
    if (taken === receiver) return;
  }
}

// The sender's own clock and timers do not move unless a test moves them; sockets and the receivers' process continue.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("an attempt ends when its 5 seconds are over, not before", () => {
  const STATUS = "the status line";

  test.each([
    ["a black hole", () => begun("blackHole"), STATUS],
    ["headers that drip", () => begun("headerDrip"), STATUS],
    ["a status that drips", () => begun("statusDrip"), STATUS],
    ["answers that are not the last", () => begun("processingDrip"), STATUS],
    ["a TLS handshake that stalls", () => begun("blackHole", "https"), "the TLS handshake"],
    ["a silent DNS server", silentName, "the name's address"],
  ])("%s is a failure", async (_, begin, awaited) => {
    const answer = await begin();

    await expectEndAtFiveSeconds(answer.ends);

    const problem = `no answer within 5 seconds: still waiting for ${awaited}`;
    expect(await answer.ends).toEqual({ code: null, body: "", truncated: false, problem, durationMs: 5000 });
  });

  test("a body that drips belongs to an answer that came in time", async () => {
    const answered = firstAnswer();
    const answer = postTo("bodyDrip");
    await answered;

    await expectEndAtFiveSeconds(answer);

    expect(await answer).toMatchObject({ code: 200, truncated: true, problem: null, durationMs: 5000 });
    expect((await answer).body).toMatch(/^x{10,}$/);
  });
});

/** An attempt whose request has arrived, and its end. */
async function begun(receiver: HostileReceiver, scheme = "http") {
  const taken = takenBy(receiver);
  const ends = post(`${scheme}://127.0.0.1:${ports[receiver]}/`);
  await taken;
  return { ends };
}

async function silentName() {
  const asked = dns.nextQuery();
  const ends = post("http://silent.test/");
  await asked;
  return { ends };
}

test("1,000 headers are an answer, headers without end are none, and a cut leaves text of at most 1,024 bytes", async () => {
  expect(await postTo("manyHeaders")).toMatchObject({ code: 200, body: "ok", truncated: false });
  expect((await postTo("headerFlood")).problem).toBe(
    "the answer's headers are larger than 64 KiB (HPE_HEADER_OVERFLOW)",
  );
  const flood = await postTo("flood");
  expect(flood, "ended on its own, not by the clock").toMatchObject({ code: 200, truncated: true, durationMs: 0 });
  expect(flood.body).toHaveLength(1024);
  expect(await postTo("emoji")).toMatchObject({ body: "x".repeat(1022), truncated: true }); // no half of a character
  const bytes = await postTo("bytes");
  expect(Buffer.byteLength(bytes.body)).toBeLessThanOrEqual(1024);
  expect(bytes).toMatchObject({ body: expect.stringMatching(/^\uFFFD+$/), truncated: true });
});

const CLOSED = "the receiver closed the connection before it answered (ECONNRESET)";

test.each([
  ["closes", null, "", CLOSED],
  ["resets", null, "", CLOSED],
  ["garbage", null, "", "the answer is not HTTP (HPE_INVALID_CONSTANT)"],
  ["switches", 101, "", null],
  ["cutsBody", 200, "only this", null],
  ["brokenChunks", 200, "", null],
  ["noContent", 204, "", null],
  ["hasty", 202, "", null],
] as const)("an answer that %s is %s %j: %s", async (receiver, code, body, problem) => {
  const answer = await postTo(receiver);

  expect(answer, "ended on its own, not by the clock").toMatchObject({ code, body, problem, durationMs: 0 });
});

test.each([
  ["http://127.0.0.1:1/", "the connection was refused (ECONNREFUSED)"],
  ["http://unknown.test/", "the host name does not exist (ENOTFOUND)"],
  ["http://gone.test/", "the host name has no address (ENODATA)"],
])("no answer of %s: %s", async (url, problem) => {
  expect((await post(url)).problem).toBe(problem);
});

async function expectEndAtFiveSeconds(answer: Promise<unknown>): Promise<void> {
  let isEnded = false;
  answer.finally(() => {
    isEnded = true;
  });

  await vi.advanceTimersByTimeAsync(4999);
  await breath();
  expect(isEnded, "before its time").toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await breath();
  expect(isEnded, "at its time").toBe(true);
}

/** Resolves when the sender has the status and headers of an answer. */
function firstAnswer(): Promise<void> {
  return new Promise((resolve) => {
    const seen = () => {
      unsubscribe("http.client.response.finish", seen);
      resolve();
    };
    subscribe("http.client.response.finish", seen);
  });
}

/** Lets what has happened already be dealt with. */
async function breath(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
