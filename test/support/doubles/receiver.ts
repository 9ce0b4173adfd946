import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A request that a receiver took. */
interface Received {
  readonly at: Date;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What it answers: a status, a status with a body, or nothing ever. */
type Answering = number | { readonly status: number; readonly body?: string } | "never";

/** The same for every request, or by its body and as late as the promise says. */
export type Behaviour = Answering | ((body: string) => Answering | Promise<Answering>);

/** A customer's endpoint on this machine. */
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export async function startReceiver(first: Behaviour, now: () => Date = () => new Date()) {
  let behaviour = first;
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  let open = 0;
  let mostOpen = 0;
  const server = createServer(async (request, response) => {
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.once("close", () => {
      open -= 1;
    });
    const body = await text(request);
    received.push({ at: now(), headers: request.headers, body });
    for (const look of waiting) look();
    const answering = typeof behaviour === "function" ? await behaviour(body) : behaviour;
    if (answering === "never") return;
    const { status, body: answer = "" } = typeof answering === "number" ? { status: answering } : answering;
    response.writeHead(status, { "content-type": "text/plain" }).end(answer);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    received,
    /** Requests that are open, and the most that were at once. */
    open: () => open,
    mostOpen: () => mostOpen,
    /** From now on it answers this. */
    answer: (next: Behaviour) => {
      behaviour = next;
    },
    /** Resolves when it has received so many requests in all. */
    has: (count: number) =>
      new Promise<void>((resolve) => {
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
