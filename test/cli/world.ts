import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { type beforeAll, beforeEach, expect } from "vitest";
import type { Machine, Operator } from "../../lib/cli/operator.ts";
import { type CommandLine, type Ended, openCommandLine, type Typing } from "../support/processes/command-line.ts";

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

/** A user at a command line, and a service whose answers a test writes. End it with `close()`. */
type CliWorld = Awaited<ReturnType<typeof startCliWorld>>;

/** A world of its own for each test of a file, or one for them all. */
export function eachCliWorld(before: typeof beforeEach | typeof beforeAll = beforeEach): CliWorld {
  const world = {} as CliWorld;
  before(async () => {
    Object.assign(world, await startCliWorld());
    return world.close;
  });
  return world;
}

/** Starts it; the user is signed in by the environment, and the service has a mapping of Contact. */
async function startCliWorld() {
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
  /** Another user of the same service; `operator` does what operators may. */
  const user = (environment: Readonly<Record<string, string>> = {}, operator?: Partial<Operator>): CommandLine => {
    const machine = { openOperator: async () => operator, startOrg: () => Promise.reject(new Error("no org")) };
    const line = openCommandLine(environment, operator && (machine as unknown as Machine));
    lines.push(line);
    return line;
  };
  /** From now on the service answers this call with `data`. */
  const answer = (call: string, data: unknown, meta?: object, headers: object = {}) =>
    void answers.set(call, [{ status: 200, body: { success: true, data, ...(meta && { meta }) }, headers }]);
  answer("GET /monitoring/mappings", [CONTACT]);
  /** What signs a user in by the environment. */
  const signedIn = { BRIDGE_URL: url, BRIDGE_WORKSPACE: "ws_1", BRIDGE_TOKEN: "brg_r_secret" };
  const line = user(signedIn);
  const begun = (beginning: string) => asked.filter(({ call }) => call.startsWith(beginning));
  return {
    ...{ url, line, signedIn, asked, answer, user },
    /** The calls so far that begin so, paths below the workspace. */
    calls: (beginning = ""): readonly string[] => begun(beginning).map(({ call }) => call),
    /** The parsed bodies of these calls. */
    bodies: (beginning: string): readonly unknown[] => begun(beginning).map(({ body }) => JSON.parse(body)),
    /** The result of a command, whose words are apart by spaces. */
    run: (typed: string | readonly string[], typing?: Typing): Promise<Ended> =>
      line.run(typeof typed === "string" ? typed.split(" ") : typed, typing),
    /** The service answers with one after the other, and then always with the last. */
    answerEach: (call: string, ...data: readonly unknown[]) => {
      const each = data.map((one) => ({ status: 200, body: { success: true, data: one } }));
      answers.set(call, each);
    },
    refuse: (call: string, status: number, code: string, details: readonly object[] = [], message?: string) =>
      void answers.set(call, [{ status, body: refusal(code, details, message) }]),
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
