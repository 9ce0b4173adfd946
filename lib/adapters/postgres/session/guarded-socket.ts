import { Socket } from "node:net";
import { guardedLookup, refusedLiteral } from "../../../network/guarded-dns.ts";

/** A socket that the driver connects by port and host; it goes nowhere that the service does not connect to. */
export class GuardedSocket extends Socket {
  override connect(...args: readonly unknown[]): this {
    const [port, host] = args;
    if (typeof port !== "number" || typeof host !== "string") throw new TypeError("connect by port and host");
    const refused = refusedLiteral(host);
    if (refused) return this.destroy(refused);
    return super.connect({ port, host, lookup: guardedLookup });
  }
}
