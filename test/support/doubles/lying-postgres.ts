import { once } from "node:events";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { createServer as createTlsServer, TLSSocket } from "node:tls";
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

/** A server that speaks PostgreSQL's protocol until the moment that it lies. End it with `close()`. */
export interface LyingPostgres {
  readonly port: number;
  /** What each connection from now on is lied to with, once or again and again. */
  lie(moment: Moment, bytes: Buffer, isEndless?: boolean): void;
  /** Connections that the other side has not ended. */
  open(): number;
  close(): Promise<void>;
}

interface Plan {
  readonly moment: Moment;
  readonly bytes: Buffer;
  readonly isEndless?: boolean;
}

/** `tls`: on request, as most servers; `direct`: from the first byte. `upstream`: who answers as long as no lie is planned. */
export async function startLyingPostgres(
  settings: { readonly tls?: "on request" | "direct"; readonly upstream?: string } = {},
): Promise<LyingPostgres> {
  const sockets = new Set<Socket>();
  let plan: Plan | null = null;
  const secure = settings.tls ? selfSigned(new Date()) : null;
  const serve = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    if (plan === null && settings.upstream !== undefined) {
      const { hostname, port } = new URL(settings.upstream);
      const upstream = connect(Number(port), hostname);
      sockets.add(upstream);
      upstream.on("error", () => socket.destroy()).on("close", () => sockets.delete(upstream) && socket.destroy());
      socket.on("close", () => upstream.destroy());
      socket.pipe(upstream).pipe(socket);
    } else converse(socket, plan ?? { moment: "in a result", bytes: Buffer.alloc(0) }, secure);
  };
  const server =
    settings.tls === "direct" && secure
      ? createTlsServer({ ...secure, ALPNProtocols: ["postgresql"] }, serve)
      : createTcpServer(serve);
  server.on("tlsClientError", () => undefined).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    lie: (moment, bytes, isEndless = false) => {
      plan = { moment, bytes, isEndless };
      if (settings.upstream !== undefined) for (const socket of sockets) socket.destroy();
    },
    open: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

const SSL_REQUEST = 80_877_103;

function converse(stream: Duplex, plan: Plan, secure: ReturnType<typeof selfSigned> | null): void {
  const { moment, bytes, isEndless = false } = plan;
  let received = Buffer.alloc(0);
  let isBegun = false;
  let isInCopy = false;
  const lieAt = (...moments: Moment[]) => (moments.includes(moment) ? bytes : Buffer.alloc(0));
  const say = (...parts: readonly Buffer[]) => {
    const until = isEndless ? parts.indexOf(bytes) : -1;
    stream.write(Buffer.concat(until < 0 ? parts : parts.slice(0, until)));
    if (until >= 0) pour();
  };
  const many = isEndless ? Buffer.concat(new Array(Math.ceil(60_000 / bytes.length)).fill(bytes)) : bytes;
  const pour = () => {
    while (stream.write(many));
    stream.once("drain", pour);
  };
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
    else if (type === "S")
      say(
        message("1", Buffer.alloc(0)),
        message("2", Buffer.alloc(0)),
        ONE_ROW,
        lieAt("in a result with parameters"),
        DONE,
      );
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
