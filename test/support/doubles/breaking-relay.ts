import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";

/** A way to a PostgreSQL that can be broken at a statement. End it with `close()`. */
export interface BreakingRelay {
  /** The server's URL by this way. */
  readonly url: string;
  /** Calls `dies` instead of passing on the `nth` statement from now on, breaks every connection, and takes no other. */
  breakBefore(nth: number, dies: () => void): void;
  readonly isBroken: boolean;
  close(): Promise<void>;
}

/** First bytes of messages that carry statements: Query, and Parse, with which a statement with parameters begins. */
const STATEMENTS = new Set(["Q".charCodeAt(0), "P".charCodeAt(0)]);

export async function startBreakingRelay(serverUrl: string): Promise<BreakingRelay> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let plan: { left: number; readonly dies: () => void } | null = null;
  let isBroken = false;
  const server = createServer((client) => {
    if (isBroken) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
    upstream.on("data", (bytes) => client.write(bytes));
    client.on("data", (bytes) => {
      if (plan && STATEMENTS.has(bytes[0] ?? 0)) plan.left -= 1;
      if (plan?.left !== 0) return upstream.write(bytes);
      isBroken = true;
      plan.dies();
      for (const socket of sockets) socket.destroy();
      return false;
    });
    client.on("end", () => upstream.end());
    upstream.on("end", () => client.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(serverUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    breakBefore: (nth, dies) => {
      plan = { left: nth, dies };
      isBroken = false;
    },
    get isBroken() {
      return isBroken;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
