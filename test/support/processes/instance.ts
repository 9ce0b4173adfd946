import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import pg from "pg";
import type { LogLine } from "../../../lib/local/cloud/lambda/log.ts";
import type { InstanceFile } from "../../../lib/local/instance-file.ts";
import { checkDescribed } from "../checks/described-api.ts";
import type { Envelope } from "../clients/call.ts";
import { askRest } from "../clients/org-rest.ts";
import { expectNoRefusals, ISOLATES } from "../run/isolation.ts";
import { keepSecret, passwordIn, refuseSecretsInFolder } from "../run/secrets.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");

type Serving = ChildProcessByStdio<null, Readable, Readable>;

/**
 * `npm start` in a process of its own, as a newcomer has it, on a free port and a data folder that is thrown away. Its
 * demo is quiet unless `live`, with sample data and a writer.
 */
export class RunningInstance {
  readonly dataDir: string;
  #child: Serving | null = null;
  #instance: InstanceFile | null = null;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #flags: readonly string[];
  readonly #project: string;

  constructor(
    options: {
      readonly environment?: Readonly<Record<string, string>>;
      readonly flags?: readonly string[];
      readonly live?: boolean;
      /** Where its code is, and the flags that make its demo quiet: those of another version. */
      readonly project?: string;
      readonly demo?: readonly string[];
      /** A data folder that is there. */
      readonly dataDir?: string;
    } = {},
  ) {
    this.#project = options.project ?? PROJECT;
    this.dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "bridge-"));
    chmodSync(this.dataDir, 0o711); // else PostgreSQL, which may run as another user, has its data elsewhere, for good
    this.#environment = options.environment ?? {};
    this.#flags = [
      ...(ISOLATES ? ["--isolate"] : []),
      ...(options.live ? [] : (options.demo ?? ["--quiet-demo"])),
      ...(options.flags ?? []),
    ];
  }

  get file(): InstanceFile {
    if (!this.#instance) throw new Error("the instance has not been started");
    return this.#instance;
  }

  /** Resolves when the program itself says that it is ready. */
  async start(): Promise<InstanceFile> {
    const child = this.serve();
    const said: string[] = [];
    createInterface({ input: child.stderr }).on("line", (line) => said.push(line));
    this.#instance = await ready(child).catch(() => {
      throw new Error(`the instance ended before it was ready:\n${said.slice(-40).join("\n")}`);
    });
    const { salesforce, database_url } = this.#instance;
    for (const secret of [salesforce.password, passwordIn(database_url)]) keepSecret(secret);
    return this.#instance;
  }

  /** Starts it, and ends it as a power cut would when it says a line with these words. */
  async cutOffAt(words: string): Promise<void> {
    const child = this.serve();
    await new Promise<void>((resolveSaid, reject) => {
      createInterface({ input: child.stderr }).on("line", (line) => line.includes(words) && resolveSaid());
      child.once("exit", () => reject(new Error(`the instance ended before it said "${words}"`)));
    });
    await this.kill();
  }

  /** Its process, with these flags besides. */
  serve(...flags: readonly string[]): Serving {
    const own = ["--json", "--port", "0", "--data-dir", this.dataDir, ...this.#flags];
    const env = { ...process.env, ...this.#environment };
    this.#child = spawn(process.execPath, [...startArguments(this.#project), ...own, ...flags], {
      cwd: this.#project,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    return this.#child;
  }

  /** All that a start says that does not come to be ready, and its exit code. */
  async refused(...flags: readonly string[]): Promise<{ said: string; code: number | null }> {
    const child = this.serve(...flags);
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    return { said, code };
  }

  /** Ends it as a power cut would. */
  kill = (): Promise<void> => this.#end("SIGKILL");
  stop = (): Promise<void> => this.#end("SIGTERM");

  async destroy(): Promise<void> {
    await this.stop();
    const log = readFileSync(join(this.dataDir, "bridge.log"), "utf8")
      .split("\n")
      .filter((line) => line.includes("access denied"));
    try {
      // The files for the operator and scripts may hold secrets; the org and the database are not ours.
      refuseSecretsInFolder(this.dataDir, ["instance.json", "operator.json", "org", "postgres"]);
    } finally {
      rmSync(this.dataDir, { recursive: true, force: true });
    }
    expectNoRefusals(log.map((line) => JSON.parse(line) as LogLine));
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  /** One statement as the application would send it. */
  async sql<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.file.database_url });
    await client.connect();
    try {
      return (await client.query<Row>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  }

  /** A request to the API with the instance's own token; `path` is below the workspace. */
  async api(method: string, path: string, body?: unknown): Promise<{ status: number; body: Envelope }> {
    const target = `/api/v1/t/${this.file.workspace_id}${path}`;
    const answer = await fetch(`${this.file.base_url}${target}`, {
      method,
      headers: {
        authorization: `Bearer ${this.file.api_token}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const said = await answer.text();
    checkDescribed(method, target, answer, said);
    return { status: answer.status, body: JSON.parse(said) as Envelope };
  }

  /** A request to the org as any client of Salesforce sends it. */
  org(method: string, path: string, body?: unknown): Promise<unknown> {
    const { url, access_token: accessToken } = this.file.salesforce;
    return askRest({ url, accessToken }, method, path, body);
  }

  async soql(query: string): Promise<Record<string, unknown>[]> {
    const answer = await this.org("GET", `/query?q=${encodeURIComponent(query)}`);
    return (answer as { records: Record<string, unknown>[] }).records;
  }
}

/** What `npm start` gives to Node: its flags and the program. */
function startArguments(project: string): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(project, "package.json"), "utf8")) as {
    readonly scripts: { readonly start: string };
  };
  return scripts.start.split(" && node ").at(-1)?.split(" ") ?? [];
}

/** What an instance says of itself when it is ready. */
export async function ready({ stdout }: Serving): Promise<InstanceFile> {
  const [line] = await Promise.race([
    once(createInterface({ input: stdout }), "line"),
    once(stdout, "close").then(() => Promise.reject(new Error("it ended before it was ready"))),
  ]);
  return JSON.parse(String(line)) as InstanceFile;
}
