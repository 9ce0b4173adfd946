import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";

/**
 * Receivers that do everything wrong, one port each. Run as a process of its own, so that what they cost is not counted
 * as the sender's; reports the ports by IPC, then the name of each receiver that takes a request, and ends with its parent.
 */
const RECEIVERS = {
  /** Takes the request and never answers. */
  blackHole: () => {},
  /** Never finishes its headers. */
  headerDrip: (socket: Socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    drip(socket, () => "X-Drip: drip\r\n");
  },
  /** Never finishes its status line. */
  statusDrip: (socket: Socket) => {
    const line = "HTTP/1.1 200 OK and a very long reason that takes its time";
    drip(socket, (count) => line.charAt(count));
  },
  /** Says that it is processing, for ever. */
  processingDrip: (socket: Socket) => drip(socket, () => "HTTP/1.1 102 Processing\r\n\r\n"),
  /** Never finishes its body, of which ten bytes come at once. */
  bodyDrip: (socket: Socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nxxxxxxxxxx");
    drip(socket, () => "x");
  },
  /** 200 MiB of body, as fast as it is read. */
  flood: (socket: Socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${200 * MEBIBYTE}\r\n\r\n`);
    pour(socket, 200);
  },
  /** 1,000 headers, about 30 KB. */
  manyHeaders: (socket: Socket) => {
    const headers = Array.from({ length: 1000 }, (_, at) => `X-Header-${at}: a value of it\r\n`);
    socket.end(`HTTP/1.1 200 OK\r\n${headers.join("")}Content-Length: 2\r\n\r\nok`);
  },
  /** Headers without end. */
  headerFlood: (socket: Socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    socket.write("X-Flood: flood\r\n".repeat(20_000));
  },
  /** 1 KB that would be 1 MB decompressed. */
  gzipBomb: (socket: Socket) => {
    const body = gzipSync(Buffer.alloc(MEBIBYTE));
    socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`);
    socket.end(body);
  },
  toMetadata: (socket: Socket) =>
    socket.end("HTTP/1.1 307 Temporary Redirect\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"),
  closes: (socket: Socket) => socket.end(),
  resets: (socket: Socket) => socket.resetAndDestroy(),
  garbage: (socket: Socket) => socket.end("ceci n'est pas HTTP\r\n\r\n"),
  switches: (socket: Socket) =>
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
  /** Promises more than it sends. */
  cutsBody: (socket: Socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"),
  brokenChunks: (socket: Socket) =>
    socket.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n"),
  /** A character of four bytes lies over the 1,024th byte. */
  emoji: (socket: Socket) => {
    const body = `${"x".repeat(1022)}🚫 and more`;
    socket.end(`HTTP/1.1 500 No\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  },
  /** No UTF-8 at all. */
  bytes: (socket: Socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n");
    socket.end(Buffer.alloc(2000, 0xff));
  },
  noContent: (socket: Socket) => socket.end("HTTP/1.1 204 No Content\r\n\r\n"),
  /** Answers before it has read the request. */
  hasty: (socket: Socket) => socket.end("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"),
} as const satisfies Record<string, (socket: Socket) => unknown>;

export type HostileReceiver = keyof typeof RECEIVERS;

const MEBIBYTE = 1024 * 1024;
const DRIP_MILLISECONDS = 300;

function drip(socket: Socket, next: (count: number) => string): void {
  let count = 0;
  const timer = setInterval(() => socket.write(next(count++)), DRIP_MILLISECONDS);
  socket.once("close", () => clearInterval(timer));
}

function pour(socket: Socket, mebibytes: number): void {
  if (mebibytes === 0 || socket.destroyed) return;
  socket.write(Buffer.alloc(MEBIBYTE, "x"), () => pour(socket, mebibytes - 1));
}

async function open(name: HostileReceiver): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      process.send?.({ taken: name });
      RECEIVERS[name](socket);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

if (process.send) {
  const names = Object.keys(RECEIVERS) as HostileReceiver[];
  const ports = await Promise.all(names.map(async (name) => [name, await open(name)]));
  process.send(Object.fromEntries(ports));
  process.on("disconnect", () => process.exit());
}
