import { setImmediate as nextTurn } from "node:timers/promises";
import { tokenOf } from "../answer-request.ts";
import type { Clock } from "../clock.ts";
import { type Call, jsonReply, nameOf, type Reply } from "../http/call.ts";
import { type Send, sendPlainly } from "../http/server.ts";
import type { Parts } from "../parts.ts";
import { Refusal } from "../refusal.ts";
import { refusalReply } from "../rest/rest.ts";
import { faultReply, MALFORMED } from "../soap/envelope.ts";
import type { Fault, RequestFaultKind } from "./faults.ts";
import type { Journal } from "./journal.ts";

interface Answered {
  readonly reply: Reply;
  readonly send: Send;
}

type Answer = (call: Call) => Promise<Reply>;
type Striking = Fault & { readonly kind: RequestFaultKind };

/** Answers a request, unless a fault was ordered for it; and notes it in the journal. */
export async function answerOrFail(parts: Parts, journal: Journal, answer: Answer, call: Call): Promise<Answered> {
  const entry = journal.note(parts.clock.now(), call);
  const request = [nameOf(call), entry.operation].filter((part) => part !== null).join(" ");
  const fault = parts.faults.onRequest({ request, body: () => call.body.toString("utf8") });
  const answered = fault
    ? await STRIKE[fault.kind]({ parts, answer, call, fault })
    : { reply: await answer(call), send: sendPlainly };
  const send: Send = async (reply, response) => {
    entry.status = reply.status;
    await answered.send(reply, response);
  };
  return { reply: answered.reply, send };
}

interface Strike {
  readonly parts: Parts;
  readonly answer: Answer;
  readonly call: Call;
  readonly fault: Striking;
}

const NOTHING: Reply = { status: 0, headers: {}, body: "" };

/** What each fault does to a request. */
const STRIKE: Readonly<Record<RequestFaultKind, (strike: Strike) => Promise<Answered>>> = {
  expiredSession: async ({ parts, call }) => {
    parts.sessions.end(tokenOf(call));
    return refuse(parts, call, new Refusal("INVALID_SESSION_ID", "Session expired or invalid", { status: 401 }));
  },
  refusedGrant: async ({ fault: { code: error = "invalid_grant", message = "expired access/refresh token" } }) => ({
    reply: jsonReply(400, { error, error_description: message }),
    send: sendPlainly,
  }),
  limitExceeded: async ({ parts, call }) =>
    refuse(parts, call, new Refusal("REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded.", { status: 403 })),
  concurrentLimit: async ({ parts, call }) =>
    refuse(
      parts,
      call,
      new Refusal("REQUEST_LIMIT_EXCEEDED", "ConcurrentPerOrgLongTxn Limit exceeded.", { status: 403 }),
    ),
  unavailable: async () => html(503, "Service Unavailable"),
  webPage: async () => html(200, "Login | Salesforce"),
  uriTooLong: async () => html(414, "URI Too Long"),
  serverError: async ({ parts, call }) => {
    const message =
      "An unexpected error occurred. Please include this ErrorId if you contact support: 12345-67890 (1234567890)";
    return refuse(parts, call, new Refusal("UNKNOWN_EXCEPTION", message, { status: 500 }));
  },
  malformedRequest: async ({ parts, call, fault }) =>
    refuse(parts, call, new Refusal(fault.code ?? MALFORMED, fault.message ?? "this request was refused on demand")),
  resetBeforeAnswer: async () => ({ reply: NOTHING, send: drop }),
  hang: async ({ parts, fault }) => ({ reply: NOTHING, send: hangFor(parts.clock, fault.milliseconds) }),
  gate: async ({ parts, answer, call, fault }) => {
    await parts.faults.waitAt(fault);
    return { reply: await answer(call), send: sendPlainly };
  },
  saveThenDrop: async ({ answer, call }) => {
    await answer(call);
    return { reply: NOTHING, send: drop };
  },
  resetInBody: async ({ answer, call }) => ({ reply: await answer(call), send: sendHalf }),
  drip: async ({ parts, answer, call, fault }) => ({
    reply: await answer(call),
    send: dripOver(parts.clock, fault.milliseconds),
  }),
};

function refuse(parts: Parts, call: Call, refusal: Refusal): Answered {
  const isSoap = /^\/services\/Soap\//i.test(call.path);
  return { reply: isSoap ? faultReply(refusal) : refusalReply(refusal, parts.calls.header()), send: sendPlainly };
}

function html(status: number, title: string): Answered {
  const body = `<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`;
  return { reply: { status, headers: { "Content-Type": "text/html;charset=UTF-8" }, body }, send: sendPlainly };
}

const drop: Send = async (_, response) => {
  response.socket?.resetAndDestroy();
};

function hangFor(clock: Clock, milliseconds: number): Send {
  return async (_, response) => {
    await clock.sleep(milliseconds);
    response.socket?.destroy();
  };
}

async function bytesOf({ body }: Reply): Promise<Buffer> {
  if (typeof body === "string") return Buffer.from(body);
  if (body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.concat(await body.toArray());
}

const sendHalf: Send = async (reply, response) => {
  const bytes = await bytesOf(reply);
  response.writeHead(reply.status, { ...reply.headers, "Content-Length": String(bytes.length) });
  await new Promise<void>((resolve) => response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => resolve()));
  await nextTurn();
  response.socket?.resetAndDestroy();
};

const DRIPS = 10;

/** The body in ten pieces, spread over the given time. */
function dripOver(clock: Clock, milliseconds: number): Send {
  return async (reply, response) => {
    const bytes = await bytesOf(reply);
    response.writeHead(reply.status, { ...reply.headers, "Content-Length": String(bytes.length) });
    const size = Math.max(1, Math.ceil(bytes.length / DRIPS));
    for (let at = 0; at < bytes.length && !response.destroyed; at += size) {
      response.write(bytes.subarray(at, at + size));
      await clock.sleep(milliseconds / DRIPS);
    }
    response.end();
  };
}
