import { Agent, request as ask, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { effectOf, jobIn, labelOf, resultsIn, writeIn } from "./http-effects.ts";
import type { Caller, Gate, OrgLedger } from "./passage.ts";

interface Passing {
  readonly caller: Caller & { readonly host: string; readonly port: number };
  readonly gate: Gate;
  /** Null: it does not go to the org. */
  readonly ledger: OrgLedger | null;
}

const agent = new Agent({ keepAlive: true });

/** Hands one request on and its answer back; if it has a durable effect, both pass the gate. */
export async function answerThrough(
  request: IncomingMessage,
  response: ServerResponse,
  passing: Passing,
): Promise<void> {
  try {
    await exchange(request, response, passing);
  } catch {
    // The other side sees a broken connection too, from either end.
    request.socket.resetAndDestroy();
  }
}

async function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  { caller, gate, ledger }: Passing,
): Promise<void> {
  const body = await buffer(request);
  const effect = effectOf(request, body);
  const point = effect && `${caller.worker} | ${effect}`;
  const write = ledger && writeIn(request, body, ledger.jobs, caller.pid);
  if (write) ledger.writes.push(write);
  if (point) {
    if ((await gate({ ...caller, point, when: "before" })) === "cut") throw new Error("cut");
    const sentAt = Date.now();
    // A save that waited at the gate as long as a lease lives was held between check and send.
    if (write) Object.assign(write, { sentAt, wasHeld: sentAt - write.sentAt > 5_000 });
  }
  if (ledger) count(ledger.sent, caller, request);
  const answer = await send(request, body, caller);
  const status = answer.statusCode ?? 502;
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of answer) chunks.push(chunk as Buffer);
  } catch (error) {
    response.writeHead(status, answer.rawHeaders);
    await new Promise((resolve) => response.write(Buffer.concat(chunks), resolve));
    throw error;
  }
  const whole = Buffer.concat(chunks);
  if (ledger && status < 400) count(ledger.calls, caller, request);
  const job = ledger && status < 300 ? jobIn(request, whole) : null;
  if (job) ledger?.jobs.set(...job);
  if (write) Object.assign(write, { answeredAt: Date.now(), results: resultsIn(whole) });
  if (point && (await gate({ ...caller, point, when: "after" })) === "cut") throw new Error("cut");
  response.writeHead(status, answer.rawHeaders).end(whole);
}

function count(counts: OrgLedger["calls"], { worker }: Caller, { url = "" }: IncomingMessage): void {
  const label = labelOf(url);
  if (label === null) return;
  counts[worker] ??= {};
  counts[worker][label] = (counts[worker][label] ?? 0) + 1;
}

function send(
  { method, url, rawHeaders }: IncomingMessage,
  body: Buffer,
  { host, port }: Passing["caller"],
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sending = ask({ agent, host, port, method, path: url, headers: plainHeaders(rawHeaders, body) }, resolve);
    sending.on("error", reject);
    sending.end(body);
  });
}

/** As they came, but with the length of the body that we have whole by now. */
function plainHeaders(raw: readonly string[], body: Buffer): string[] {
  const headers: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? "";
    if (/^(content-length|transfer-encoding|connection|expect)$/i.test(name)) continue;
    headers.push(name, raw[at + 1] ?? "");
  }
  return [...headers, "Content-Length", String(body.length)];
}
