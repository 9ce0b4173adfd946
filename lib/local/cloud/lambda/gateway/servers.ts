import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { originOf } from "../../../origin.ts";

/**
 * How long a connection without a request stays open: longer than load balancers and browsers keep theirs (60 s), or one
 * of them sends its next request into a connection that is being closed.
 */
export const IDLE_MILLISECONDS = 75_000;

/** Starts listening (port 0 takes a free one) and gives the address: `http://127.0.0.1:54321`. */
export async function listen(server: Server, port: number, address: string): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, resolve);
  });
  return originOf("http", address, (server.address() as AddressInfo).port);
}

/** Takes no new requests and resolves when those under way are answered. */
export function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}
