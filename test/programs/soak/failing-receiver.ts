import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A customer's endpoint that counts what comes and keeps nothing of it. */
export interface FailingReceiver {
  readonly url: string;
  /** How many requests came, by path. */
  readonly taken: Readonly<Record<string, number>>;
  close(): Promise<void>;
}

/** Answers 200, but every second request of `/failing` with 500. */
export async function startFailingReceiver(): Promise<FailingReceiver> {
  const taken: Record<string, number> = {};
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    taken[path] = (taken[path] ?? 0) + 1;
    request.resume();
    response.writeHead(path === "/failing" && taken[path] % 2 === 1 ? 500 : 200).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
