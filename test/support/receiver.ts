import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A request that a receiver took. */
export interface Received {
  readonly at: Date;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What it answers: a status, a status with a body, or nothing ever. */
export type Answering = number | { readonly status: number; readonly body: string } | "never";

/** A customer's endpoint on this machine. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** From now on it answers this. */
  answer(answering: Answering): void;
  /** Resolves when it has taken so many requests in all. */
  has(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function startReceiver(first: Answering, now: () => Date = () => new Date()): Promise<Receiver> {
  let answering = first;
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const body = await text(request);
    received.push({ at: now(), headers: request.headers, body });
    for (const look of waiting) look();
    if (answering === "never") return;
    const { status, body: answer } = typeof answering === "number" ? { status: answering, body: "" } : answering;
    response.writeHead(status, { "content-type": "text/plain" }).end(answer);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    received,
    answer: (next) => {
      answering = next;
    },
    has: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (received.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
