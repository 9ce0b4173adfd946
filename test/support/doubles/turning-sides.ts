import { createServer as createHttpServer, request } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A database or an org that is honest until it is turned. End it with `close()`. */
export interface Turning {
  readonly url: string;
  /** From now on each connection or request gets the next of its lies. */
  turn(): void;
  /** How many lies it has answered with. */
  readonly lies: number;
  close(): Promise<void>;
}

/** Whole answers of a server that speaks to the driver of PostgreSQL, instead of asking for the password. */
const DATABASE_LIES: readonly Buffer[] = [
  "52 00000008 00000007", // AuthenticationGSS
  "52 00000008 00000063", // an authentication that does not exist
  "52 00000000", // a message of no length
  "45 00000005 53", // an error that does not end
  "52 00000008 00000000 54 00000006 7fff", // more columns than bytes
  "52 00000008 00000000 5a 00000005 49 44 00000006 7fff",
  "47 00000007 00 00 7f", // COPY that was not asked for
  "52 7fffffff 00000000", // two gigabytes to come
  "4e 00000004", // a notice of nothing
  "00 00000004",
].map((hex) => Buffer.from(hex.replaceAll(" ", ""), "hex"));

/** A server beside the PostgreSQL of this URL. */
export async function startTurningDatabase(serverUrl: string): Promise<Turning> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  const state = { isTurned: false, lies: 0 };
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((client) => {
    keep(client);
    if (state.isTurned) {
      client.once("data", () => {
        client.write(DATABASE_LIES[state.lies % DATABASE_LIES.length] ?? "");
        state.lies += 1;
      });
      return;
    }
    const upstream = keep(connect(Number(target.port), target.hostname));
    client.pipe(upstream).pipe(client);
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  const url = new URL(serverUrl);
  url.host = await listen(server);
  return turning(url.href, server, sockets, state);
}

/** What an org answers with any status, as text. */
const ORG_LIES: readonly (() => string)[] = [
  () => `${"<!---->".repeat(200)}x`,
  () => "<faultstring>".repeat(200_000),
  () => `{"records":[{"Id":"${"a".repeat(2_000_000)}`,
  () => `"${"x,".repeat(1_000_000)}`,
  () => `<html><title>${"<title>".repeat(100_000)}`,
  () => "[".repeat(1_000_000),
];

/** A host beside the org of this URL, whose answers name the host as the org's own. */
export async function startTurningOrg(orgUrl: string): Promise<Turning> {
  const target = new URL(orgUrl);
  const sockets = new Set<Socket>();
  const state = { isTurned: false, lies: 0 };
  let own = "";
  const server = createHttpServer((asked, answer) => {
    if (state.isTurned) {
      const lie = (ORG_LIES[state.lies % ORG_LIES.length] ?? (() => ""))();
      answer.writeHead([200, 500, 400][state.lies % 3] ?? 200, { "content-type": "text/html" }).end(lie);
      state.lies += 1;
      asked.resume();
      return;
    }
    const { method, url: path, headers } = asked;
    const upstream = request({ host: target.hostname, port: target.port, method, path, headers }, (said) => {
      const chunks: Buffer[] = [];
      said.on("data", (chunk: Buffer) => chunks.push(chunk));
      said.on("end", () => {
        const { "content-length": _, ...kept } = said.headers;
        const whole = Buffer.concat(chunks);
        const isText = kept["content-encoding"] === undefined;
        answer.writeHead(said.statusCode ?? 500, kept);
        answer.end(isText ? whole.toString().replaceAll(orgUrl, own) : whole);
      });
    });
    upstream.on("error", () => answer.destroy());
    asked.pipe(upstream);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  own = `http://${await listen(server)}`;
  return turning(own, server, sockets, state);
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function turning(url: string, server: Server, sockets: Set<Socket>, state: { isTurned: boolean; lies: number }) {
  return {
    url,
    turn: () => {
      state.isTurned = true;
      for (const socket of sockets) socket.destroy();
    },
    get lies() {
      return state.lies;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
