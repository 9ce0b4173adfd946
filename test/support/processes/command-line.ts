import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { openOperator } from "../../../bin/operate.ts";
import type { Machine } from "../../../lib/cli/operator.ts";
import { runBridge } from "../../../lib/cli/program.ts";
import { openOrg } from "../../../lib/local/org/run-org.ts";
import { checkDescribed } from "../checks/described-api.ts";

/** What a command came to. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Typing {
  /** What is piped in. */
  readonly stdin?: string | Buffer;
  /** Replaces a person's terminal of this many columns. */
  readonly columns?: number;
  readonly interrupted?: AbortSignal;
  /** Receive each piece of text as it comes. */
  readonly onStdout?: (text: string) => void;
  readonly onStderr?: (text: string) => void;
}

/** A user's account on a machine: a home of its own, and the command line. End it with `close()`. */
export type CommandLine = ReturnType<typeof openCommandLine>;

const MACHINE: Machine = { openOperator, startOrg: openOrg };

/** Opens one, whose answers are judged by the API's description; `environment` is added to that of its commands. */
export function openCommandLine(environment: Readonly<Record<string, string>> = {}, machine: Machine = MACHINE) {
  checkFetched();
  const folder = mkdtempSync(join(tmpdir(), "bridge-user-"));
  const env = { HOME: folder, BRIDGE_DATA_DIR: join(folder, "data"), ...environment };
  const run = async (args: readonly string[], typing: Typing = {}): Promise<Ended> => {
    const said = { stdout: "", stderr: "" };
    const { columns, interrupted = new AbortController().signal } = typing;
    const sink = (name: keyof typeof said, tell: (text: string) => void = () => undefined) => ({
      write: (text: string) => {
        said[name] += text;
        tell(text);
      },
      ...(columns === undefined ? {} : { isTTY: true, columns }),
    });
    const terminal = {
      stdin: Readable.from(typing.stdin === undefined ? [] : [typing.stdin]),
      stdout: sink("stdout", typing.onStdout),
      stderr: sink("stderr", typing.onStderr),
      env,
      folder,
      interrupted,
    };
    const code = await runBridge(args, terminal, machine);
    await Promise.all(judging.splice(0));
    const wrong = wrongAnswers.splice(0);
    if (wrong.length > 0) throw new Error(`bridge ${args.join(" ")} got what the API does not describe: ${wrong}`);
    return { code, ...said };
  };
  return {
    folder,
    /** Writes a file into the folder and gives its path. */
    file: (name: string, content: string): string => {
      const path = join(folder, name);
      writeFileSync(path, content);
      return path;
    },
    run,
    /** The parsed answer of a command with `--json` that must go well. */
    json: async <Answer>(args: readonly string[], typing?: Typing): Promise<Answer> => {
      const { code, stdout, stderr } = await run([...args, "--json"], typing);
      if (code !== 0) throw new Error(`bridge ${args.join(" ")} ended with ${code}: ${stderr}${stdout}`);
      return JSON.parse(stdout);
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

let isWatching = false;
const judging: Promise<void>[] = [];
/** One sentence each: a client may swallow what its fetch throws. */
const wrongAnswers: string[] = [];

/** Judges every answer of a Bridge that this process fetches from now on by the API's description. */
function checkFetched(): void {
  if (isWatching) return;
  isWatching = true;
  const fetched = globalThis.fetch;
  globalThis.fetch = async (...request) => {
    const response = await fetched(...request);
    const { pathname, search } = new URL(response.url || "http://nowhere/");
    // The limit's headers are on every answer below the prefix, and distinguish a Bridge from its replacement.
    if (pathname.startsWith("/api/v1/t/") && response.headers.has("ratelimit"))
      judging.push(judge(methodOf(request), pathname + search, response.clone()));
    return response;
  };
}

async function judge(method: string, target: string, response: Response): Promise<void> {
  try {
    checkDescribed(method, target, response, await response.text());
  } catch (error) {
    wrongAnswers.push((error as Error).message);
  }
}

function methodOf([asked, options]: Parameters<typeof fetch>): string {
  return options?.method ?? (asked instanceof Request ? asked.method : "GET");
}
