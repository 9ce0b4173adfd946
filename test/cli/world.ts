import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { type CommandLine, openCommandLine } from "../support/processes/command-line.ts";

/** A user at a command line, and a service whose answers a test writes. End it with `close()`. */
export interface CliWorld {
  readonly url: string;
  readonly line: CommandLine;
  /** What was asked so far, paths below the workspace. */
  readonly asked: Asked[];
  /** From now on the service answers this call with `data`. */
  answer(call: string, data: unknown, meta?: object, headers?: Readonly<Record<string, string>>): void;
  refuse(call: string, status: number, code: string, details?: readonly object[], message?: string): void;
  /** Another user of the same service. */
  user(environment?: Readonly<Record<string, string>>): CommandLine;
  close(): void;
}

interface Asked {
  readonly call: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Starts it; the user is signed in by the environment. */
export async function startCliWorld(): Promise<CliWorld> {
  const answers = new Map<string, { readonly status: number; readonly body: object; readonly headers?: object }>();
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname, search } = new URL(request.url ?? "", "http://localhost");
    const call = `${request.method} ${pathname.replace("/api/v1/t/ws_1", "")}`;
    asked.push({ call: call + search, headers: request.headers, body: Buffer.concat(chunks).toString() });
    const { status, body, headers } = answers.get(call) ?? { status: 404, body: refusal("NOT_FOUND", []), headers: {} };
    response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const lines: CommandLine[] = [];
  const user = (environment: Readonly<Record<string, string>> = {}) => {
    const line = openCommandLine(environment);
    lines.push(line);
    return line;
  };
  return {
    url,
    line: user({ BRIDGE_URL: url, BRIDGE_WORKSPACE: "ws_1", BRIDGE_TOKEN: "brg_r_secret" }),
    asked,
    answer: (call, data, meta, headers = {}) =>
      answers.set(call, { status: 200, body: { success: true, data, ...(meta && { meta }) }, headers }),
    refuse: (call, status, code, details = [], message = "in words") =>
      answers.set(call, { status, body: refusal(code, details, message) }),
    user,
    close: () => {
      for (const line of lines) line.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

function refusal(code: string, details: readonly object[], message = "in words") {
  return { success: false, error: { code, message, ...(details.length > 0 && { details }) } };
}
