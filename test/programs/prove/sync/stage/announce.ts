import { readFileSync } from "node:fs";
import { Socket, type TcpNetConnectOpts } from "node:net";

/**
 * Loaded before a function's own code (`NODE_OPTIONS=--import`): its connections go through the proof's wire, which they
 * identify themselves and their destination to, and its time is the proof's. The function itself knows nothing of it.
 */

const { env, pid } = process;
const wire = Number(env["PROOF_WIRE"]);
const runtimeApi = Number(env["AWS_LAMBDA_RUNTIME_API"]?.split(":").at(-1));

const connect = Socket.prototype.connect as (this: Socket, ...args: unknown[]) => Socket;

Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
  const { options, done } = readArguments(args);
  if (options === null || Number(options.port) === runtimeApi) return connect.apply(this, args);
  const detour = { ...options, host: "127.0.0.1", port: wire };
  const socket = connect.apply(this, done ? [detour, done] : [detour]);
  socket.write(`${pid} ${env["AWS_LAMBDA_FUNCTION_NAME"]} ${options.host ?? "localhost"} ${options.port}\n`);
  return socket;
} as Socket["connect"];

interface Asked {
  /** Null: not a TCP connection. */
  readonly options: TcpNetConnectOpts | null;
  readonly done: unknown;
}

/** `net.connect` hands on what it has read in an array; others call `connect(options)` or `connect(port, host)`. */
function readArguments(args: readonly unknown[]): Asked {
  const [first, second, third] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  const last = [second, third].find((one) => typeof one === "function");
  if (typeof first === "object" && first !== null) {
    return { options: "port" in first ? (first as TcpNetConnectOpts) : null, done: last };
  }
  if (typeof first === "string" && Number.isNaN(Number(first))) return { options: null, done: last };
  return { options: { port: Number(first), ...(typeof second === "string" && { host: second }) }, done: last };
}

/** How far the proof's time is ahead of the machine's, in milliseconds; looked up again after a while. */
let ahead = 0;
let readAt = 0;
Reflect.set(globalThis, Symbol.for("bridge.now"), () => {
  const now = Date.now();
  if (now - readAt > 50) {
    ahead = Number(readFileSync(env["PROOF_CLOCK"] ?? "", "utf8"));
    readAt = now;
  }
  return now + ahead;
});
