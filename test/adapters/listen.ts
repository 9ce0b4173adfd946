import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";
import { onTestFinished } from "vitest";

/** Has a server listen on a free port of this machine, and gives the port. */
export async function listen(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

/** The same for the running test. */
export function listenForTest(server: Server): Promise<number> {
  onTestFinished(() => void server.close());
  return listen(server);
}
