import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { selfSigned } from "../../../lib/local/org/http/self-signed.ts";
import { authentication, COPY_IN, DONE, message, ONE_ROW, READY, SCRAM, WELCOME } from "./backend-messages.ts";

/** When a server lies; it is honest until then, and continues as an honest one would. */
export const MOMENTS = [
  "before the password",
  "after the password",
  "in SCRAM",
  "between statements",
  "in a result",
  "in a result with parameters",
  "instead of a copy",
  "in a copy",
  "in a copy out",
] as const;
export type Moment = (typeof MOMENTS)[number];

interface Plan {
  readonly moment: Moment;
  readonly bytes: Buffer;
}

/** A server that speaks PostgreSQL's protocol until the moment that it lies. End it with `close()`. */
export type LyingPostgres = Awaited<ReturnType<typeof startLyingPostgres>>;

/** `tls`: as most servers have it. */
export async function startLyingPostgres({ tls }: { readonly tls?: "on request" } = {}) {
  const sockets = new Set<Socket>();
  let plan: Plan = { moment: "in a result", bytes: Buffer.alloc(0) };
  const secure = tls ? selfSigned(new Date()) : null;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    converse(socket, plan, secure);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    /** What each connection from now on is lied to with. */
    lie: (moment: Moment, bytes: Buffer) => {
      plan = { moment, bytes };
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

const SSL_REQUEST = 80_877_103;

/** Parsed and bound. */
const PREPARED = Buffer.concat([message("1", Buffer.alloc(0)), message("2", Buffer.alloc(0))]);

function converse(stream: Duplex, plan: Plan, secure: ReturnType<typeof selfSigned> | null): void {
  const { moment, bytes } = plan;
  let received = Buffer.alloc(0);
  let isBegun = false;
  let isInCopy = false;
  const lieAt = (...moments: Moment[]) => (moments.includes(moment) ? bytes : Buffer.alloc(0));
  const say = (...parts: readonly Buffer[]) => stream.write(Buffer.concat(parts));
  const begin = () => {
    isBegun = true;
    if (moment === "in SCRAM") say(SCRAM);
    else if (moment === "after the password") say(message("R", authentication(3)));
    else say(lieAt("before the password"), WELCOME, lieAt("between statements"));
  };
  const answer = (type: string, body: Buffer) => {
    const isCopy = type === "Q" && body.includes("COPY");
    if (type === "p") say(bytes, WELCOME);
    else if (isCopy && moment === "instead of a copy") say(bytes, DONE);
    else if (isCopy) {
      isInCopy = true;
      say(COPY_IN, lieAt("in a copy"));
    } else if (type === "c" && isInCopy) {
      isInCopy = false;
      say(DONE);
    } else if (type === "Q" && moment === "in a copy out") say(message("H", Buffer.from([0, 0, 1, 0, 0])), bytes, DONE);
    else if (type === "Q") say(ONE_ROW, lieAt("in a result"), DONE);
    else if (type === "S") say(PREPARED, ONE_ROW, lieAt("in a result with parameters"), DONE);
    else if (type === "X") stream.end();
    else if (type === "f") say(READY);
  };
  stream.on("error", () => undefined);
  const take = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      const header = isBegun ? 1 : 0;
      if (received.length < header + 4) return;
      const size = header + received.readUInt32BE(header);
      if (received.length < size) return;
      const whole = received.subarray(0, size);
      received = received.subarray(size);
      if (isBegun) answer(String.fromCharCode(whole[0] ?? 0), whole.subarray(5));
      else if (whole.readInt32BE(4) !== SSL_REQUEST) begin();
      else if (secure === null) say(Buffer.from("N"));
      else {
        stream.off("data", take);
        stream.write("S");
        converse(new TLSSocket(stream as Socket, { isServer: true, ...secure }), plan, null);
        return;
      }
    }
  };
  stream.on("data", take);
}
