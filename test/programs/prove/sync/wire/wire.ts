import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { answerThrough } from "./http-wire.ts";
import type { Caller, Gate, OrgLedger } from "./passage.ts";
import { pipePostgres } from "./postgres-wire.ts";

/**
 * What is between the functions and everything that outlives them: listens for functions. The first line of each
 * connection says who comes and where to; what follows is handed on as it is, and each durable effect in it passes the gate
 * twice.
 */
export async function openWire(gate: Gate, postgresPort: number, orgPort: number) {
  const ledger: OrgLedger = { writes: [], jobs: new Map(), calls: {}, sent: {} };
  const callers = new Map<Socket, Caller & { readonly host: string; readonly port: number }>();
  const http = createHttpServer((request, response) => {
    const caller = callers.get(request.socket);
    if (!caller) throw new Error("a request came over an unannounced connection");
    answerThrough(request, response, { caller, gate, ledger: caller.port === orgPort ? ledger : null });
  });
  http.keepAliveTimeout = 120_000;
  http.requestTimeout = 0;

  const server = createServer({ noDelay: true }, (socket) => {
    socket.on("error", () => undefined);
    readAnnouncement(socket, (line) => {
      const [pid, worker = "", host = "127.0.0.1", port] = line.split(" ");
      // `bridge-dev-run-cycle` is `run-cycle`.
      const caller = { pid: Number(pid), worker: worker.replace(/^bridge-\w+-/, ""), host, port: Number(port) };
      callers.set(socket, caller);
      socket.once("close", () => callers.delete(socket));
      if (caller.port === postgresPort) {
        const upstream = connect({ host, port: caller.port, noDelay: true });
        pipePostgres(socket, upstream, caller, gate);
      } else {
        http.emit("connection", socket);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    ledger,
    /** Functions with a connection open now: processes that live. */
    callers: (): readonly Caller[] => [...callers.values()],
    close: () => {
      server.close();
      http.closeAllConnections();
    },
  };
}

/** Reads the first line, and leaves the rest to the next reader. */
function readAnnouncement(socket: Socket, then: (line: string) => void): void {
  let seen: Buffer = Buffer.alloc(0);
  const read = () => {
    for (let chunk = socket.read() as Buffer | null; chunk; chunk = socket.read() as Buffer | null) {
      seen = Buffer.concat([seen, chunk]);
      const end = seen.indexOf(10);
      if (end < 0) continue;
      socket.off("readable", read);
      const rest = seen.subarray(end + 1);
      if (rest.length > 0) socket.unshift(rest);
      then(seen.toString("utf8", 0, end));
      return;
    }
  };
  socket.on("readable", read);
}
