import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { webhookSender } from "../../../lib/adapters/webhook-client/post.ts";
import { resolveByDns } from "../../../lib/adapters/webhook-client/resolve.ts";
import { DEVELOPMENT } from "../../../lib/model/address.ts";
import { type DnsServer, startDnsServer } from "../../support/dns-server.ts";
import type { HostileReceiver } from "../../support/hostile-receivers.ts";

let dns: DnsServer;
let receivers: ChildProcess;
let ports: Readonly<Record<HostileReceiver, number>>;

beforeAll(async () => {
  dns = await startDnsServer({ "silent.test": "silent", "gone.test": [] });
  receivers = fork(join(import.meta.dirname, "../../support/hostile-receivers.ts"));
  [ports] = await once(receivers, "message");
});

afterAll(async () => {
  receivers.disconnect();
  await once(receivers, "exit");
  await dns.close();
});

const post = (url: string, body = JSON.stringify({ id: "evt_1" })) =>
  webhookSender({ policy: DEVELOPMENT, resolve: resolveByDns([dns.address]) }).post({ url, headers: {}, body });

const postTo = (receiver: HostileReceiver) => post(`http://127.0.0.1:${ports[receiver]}/`);

describe("an attempt ends within 5.1 seconds", () => {
  test.concurrent.each([
    ["blackHole", "no answer within 5 seconds: still waiting for the status line"],
    ["headerDrip", "no answer within 5 seconds: still waiting for the status line"],
    ["statusDrip", "no answer within 5 seconds: still waiting for the status line"],
    ["processingDrip", "no answer within 5 seconds: still waiting for the status line"],
  ] as const)("%s: no status in time is a failure", async (receiver, problem) => {
    const answer = await postTo(receiver);

    expect(answer).toMatchObject({ code: null, problem });
    expectFiveSeconds(answer.durationMs);
  });

  test.concurrent("a receiver that stalls its TLS handshake fails", async () => {
    const answer = await post(`https://127.0.0.1:${ports.blackHole}/`);

    expect(answer.problem).toBe("no answer within 5 seconds: still waiting for the TLS handshake");
    expectFiveSeconds(answer.durationMs);
  });

  test.concurrent("a name whose DNS server is silent fails", async () => {
    const answer = await post("http://silent.test/");

    expect(answer.code).toBeNull();
    expect(answer.problem).toMatch(/^no (DNS server answered|answer within 5 seconds)/);
    expect(answer.durationMs).toBeLessThan(5100);
  });

  test.concurrent("a body that drips belongs to an answer that came in time", async () => {
    const answer = await postTo("bodyDrip");

    expect(answer).toMatchObject({ code: 200, truncated: true, problem: null });
    expect(answer.body).toMatch(/^x{10,20}$/);
    expectFiveSeconds(answer.durationMs);
  });
});

describe("what a receiver sends is bounded", () => {
  test("of 200 MiB the first 1,024 bytes are kept, at once, and memory grows by at most 5 MB", async () => {
    for (let warm = 0; warm < 5; warm += 1) await postTo("flood");
    const before = settledMemory();

    const answers = await Promise.all(Array.from({ length: 10 }, () => postTo("flood")));

    const grown = settledMemory() - before;
    for (const answer of answers) {
      expect(answer).toMatchObject({ code: 200, truncated: true });
      expect(answer.body).toHaveLength(1024);
      expect(answer.durationMs).toBeLessThan(2000);
    }
    expect(grown).toBeLessThan(5_000_000);
  });

  test("1,000 headers are an answer, headers without end are none", async () => {
    expect(await postTo("manyHeaders")).toMatchObject({ code: 200, body: "ok", truncated: false });
    expect((await postTo("headerFlood")).problem).toBe(
      "the answer's headers are larger than 64 KiB (HPE_HEADER_OVERFLOW)",
    );
  });

  test("a cut never leaves half a character", async () => {
    const { body, truncated } = await postTo("emoji");

    expect(body).toBe("x".repeat(1022));
    expect(truncated).toBe(true);
  });

  test("bytes that are no text are kept as at most 1,024 bytes of text", async () => {
    const { body, truncated } = await postTo("bytes");

    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(1024);
    expect(body).toMatch(/^\uFFFD+$/);
    expect(truncated).toBe(true);
  });
});

describe("whatever comes back has a reason in words", () => {
  test.each([
    ["closes", "the receiver closed the connection before it answered (ECONNRESET)"],
    ["resets", "the receiver closed the connection before it answered (ECONNRESET)"],
    ["garbage", "the answer is not HTTP (HPE_INVALID_CONSTANT)"],
  ] as const)("%s", async (receiver, problem) => {
    expect(await postTo(receiver)).toMatchObject({ code: null, problem });
  });

  test.each([
    ["switches", 101, ""],
    ["cutsBody", 200, "only this"],
    ["brokenChunks", 200, ""],
    ["noContent", 204, ""],
    ["hasty", 202, ""],
  ] as const)("%s answers with a status", async (receiver, code, body) => {
    const answer = await postTo(receiver);

    expect(answer).toMatchObject({ code, body, problem: null });
    expect(answer.durationMs).toBeLessThan(1000);
  });

  test("a refused connection, an unknown name and a name without address", async () => {
    const answers = await Promise.all([
      post("http://127.0.0.1:1/"),
      post("http://unknown.test/"),
      post("http://gone.test/"),
    ]);

    expect(answers.map(({ problem }) => problem)).toEqual([
      "the connection was refused (ECONNREFUSED)",
      "the host name does not exist (ENOTFOUND)",
      "the host name has no address (ENODATA)",
    ]);
  });
});

function expectFiveSeconds(durationMs: number): void {
  expect(durationMs).toBeGreaterThanOrEqual(4990);
  expect(durationMs).toBeLessThan(5100);
}

/** Bytes of this process in memory, after what nobody holds any more was given up. */
function settledMemory(): number {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  for (let round = 0; round < 3; round += 1) collect();
  return process.memoryUsage.rss();
}
