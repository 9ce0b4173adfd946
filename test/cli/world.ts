import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeEach, expect } from "vitest";
import type { Machine, Operator } from "../../lib/cli/operator.ts";
import { type CommandLine, type Ended, openCommandLine, type Typing } from "../support/processes/command-line.ts";

/** A user at a command line, and a service whose answers a test writes. End it with `close()`. */
export interface CliWorld {
  readonly url: string;
  readonly line: CommandLine;
  /** What signs a user in by the environment. */
  readonly signedIn: Readonly<Record<string, string>>;
  /** What was asked so far, paths below the workspace. */
  readonly asked: Asked[];
  /** The calls so far that begin so. */
  calls(beginning?: string): readonly string[];
  /** The parsed bodies of these calls. */
  bodies(beginning: string): readonly unknown[];
  /** What comes of a command; words of a text are apart by spaces. */
  run(typed: string | readonly string[], typing?: Typing): Promise<Ended>;
  /** From now on the service answers this call with `data`. */
  answer(call: string, data: unknown, meta?: object, headers?: Readonly<Record<string, string>>): void;
  /** It answers with one after the other, and then always with the last. */
  answerEach(call: string, ...data: readonly unknown[]): void;
  refuse(call: string, status: number, code: string, details?: readonly object[], message?: string): void;
  /** Another user of the same service. */
  user(environment?: Readonly<Record<string, string>>, operator?: Partial<Operator>): CommandLine;
  close(): void;
}

interface Asked {
  readonly call: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Answer {
  readonly status: number;
  readonly body: object;
  readonly headers?: object;
}

export const CONTACT = { id: "map_1", sf_object: "Contact", pg_table: "contact" };

/** A text that contains this. */
export const has = (text: string) => expect.stringContaining(text);

/** A world of its own for each test of a file. */
export function eachCliWorld(): CliWorld {
  const world = {} as CliWorld;
  beforeEach(async () => {
    Object.assign(world, await startCliWorld());
    return world.close;
  });
  return world;
}

/** Starts it; the user is signed in by the environment, and the service has a mapping of Contact. */
export async function startCliWorld(): Promise<CliWorld> {
  const answers = new Map<string, readonly Answer[]>();
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname, search } = new URL(request.url ?? "", "http://localhost");
    const call = `${request.method} ${pathname.replace("/api/v1/t/ws_1", "")}`;
    asked.push({ call: call + search, headers: request.headers, body: Buffer.concat(chunks).toString() });
    const [answer, ...later] = answers.get(call) ?? [];
    if (later.length > 0) answers.set(call, later);
    const { status, body, headers } = answer ?? { status: 404, body: refusal("NOT_FOUND", []), headers: {} };
    response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const lines: CommandLine[] = [];
  const user: CliWorld["user"] = (environment = {}, operator) => {
    const machine = { openOperator: async () => operator, startOrg: () => Promise.reject(new Error("no org")) };
    const line = openCommandLine(environment, operator && (machine as unknown as Machine));
    lines.push(line);
    return line;
  };
  const answer: CliWorld["answer"] = (call, data, meta, headers = {}) =>
    answers.set(call, [{ status: 200, body: { success: true, data, ...(meta && { meta }) }, headers }]);
  answer("GET /monitoring/mappings", [CONTACT]);
  const signedIn = { BRIDGE_URL: url, BRIDGE_WORKSPACE: "ws_1", BRIDGE_TOKEN: "brg_r_secret" };
  const line = user(signedIn);
  const begun = (beginning: string) => asked.filter(({ call }) => call.startsWith(beginning));
  return {
    ...{ url, line, signedIn, asked, answer, user },
    calls: (beginning = "") => begun(beginning).map(({ call }) => call),
    bodies: (beginning) => begun(beginning).map(({ body }) => JSON.parse(body)),
    run: (typed, typing) => line.run(typeof typed === "string" ? typed.split(" ") : typed, typing),
    answerEach: (call, ...data) =>
      answers.set(
        call,
        data.map((one) => ({ status: 200, body: { success: true, data: one } })),
      ),
    refuse: (call, status, code, details = [], message = "in words") =>
      answers.set(call, [{ status, body: refusal(code, details, message) }]),
    close: () => {
      for (const one of lines) one.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

function refusal(code: string, details: readonly object[], message = "in words") {
  return { success: false, error: { code, message, ...(details.length > 0 && { details }) } };
}
