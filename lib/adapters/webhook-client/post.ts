import * as http from "node:http";
import * as https from "node:https";
import type { LookupFunction } from "node:net";
import type { AddressPolicy } from "../../model/address.ts";
import { ATTEMPT_SECONDS } from "../../model/delivery/delivery.ts";
import type { Answer, Sender, SignedRequest } from "../../webhooks/ports.ts";
import { readStart } from "./answer-start.ts";
import { type Vetted, vet } from "./guard.ts";
import { problemOf, type Stage, TimeIsUp } from "./problem.ts";
import type { Resolve } from "./resolve.ts";

interface Options {
  readonly policy: AddressPolicy;
  readonly resolve: Resolve;
  /** Certificates of authorities to trust instead of the well-known ones, PEM. */
  readonly authorities?: readonly string[];
}

/** Bytes of an answer's headers; above Node's own 16 KiB, so that a chatty receiver still counts as one that answered. */
const HEADER_BYTES = 64 * 1024;

/**
 * Posts to webhooks. One wall clock of 5 s covers DNS, connection, TLS, headers and status (contract 6.4.1); a body may use
 * what is left of it. Redirects are not followed, proxies of the environment are not used, connections not kept.
 */
export function webhookSender(options: Options): Sender {
  return {
    post: async (request) => {
      const began = performance.now();
      const deadline = new AbortController();
      const timer = setTimeout(() => deadline.abort(new TimeIsUp()), ATTEMPT_SECONDS * 1000);
      try {
        return {
          ...(await attempt(options, request, deadline.signal)),
          durationMs: Math.round(performance.now() - began),
        };
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

async function attempt(
  { policy, resolve, authorities }: Options,
  request: SignedRequest,
  signal: AbortSignal,
): Promise<Omit<Answer, "durationMs">> {
  const progress: { stage: Stage } = { stage: "the name's address" };
  try {
    const vetted = await inTime(vet(request.url, policy, resolve, signal), signal);
    progress.stage = "the connection";
    const response = await statusOf(open(vetted, request, authorities), request.body, signal, progress);
    const { text, truncated } = await readStart(response, signal);
    return { code: response.statusCode ?? null, body: text, truncated, problem: null };
  } catch (error) {
    return { code: null, body: "", truncated: false, problem: problemOf(error, progress.stage) };
  }
}

function open({ url, addresses }: Vetted, { headers }: SignedRequest, authorities: Options["authorities"]) {
  const options: https.RequestOptions = {
    method: "POST",
    headers: { ...headers, "accept-encoding": "identity" },
    // A connection of its own for each attempt: the addresses were judged for this one.
    agent: false,
    lookup: answering(addresses),
    maxHeaderSize: HEADER_BYTES,
    insecureHTTPParser: false,
  };
  if (url.protocol === "http:") return http.request(url, options);
  return https.request(url, { ...options, rejectUnauthorized: true, ...(authorities ? { ca: [...authorities] } : {}) });
}

/** Hands out the judged addresses, whatever the name would resolve to by now. */
function answering(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  return (_hostname, options, callback) => {
    const first = all[0];
    if (options.all || first === undefined) callback(null, all);
    else callback(null, first.address, first.family);
  };
}

/** The answer as soon as its status and headers are there. Rejects, with the connection closed, when `signal` aborts first. */
function statusOf(
  request: http.ClientRequest,
  body: string,
  signal: AbortSignal,
  progress: { stage: Stage },
): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      reject(error);
      request.destroy();
    };
    const expire = () => fail(signal.reason);
    signal.addEventListener("abort", expire, { once: true });
    request.once("socket", (socket) => {
      const encrypted = request.protocol === "https:";
      socket.once("connect", () => {
        progress.stage = encrypted ? "the TLS handshake" : "the status line";
      });
      socket.once("secureConnect", () => {
        progress.stage = "the status line";
      });
    });
    request.once("response", (response) => {
      signal.removeEventListener("abort", expire);
      resolve(response);
    });
    request.once("upgrade", (response, socket) => {
      socket.destroy();
      resolve(response);
    });
    // Stays for good: a connection may still break after its answer, when that does not matter.
    request.on("error", fail);
    request.end(body);
    if (signal.aborted) expire();
  });
}

function inTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const expire = () => reject(signal.reason);
    signal.addEventListener("abort", expire, { once: true });
    work.then(resolve, (error: unknown) => reject(signal.aborted ? signal.reason : error));
  });
}
