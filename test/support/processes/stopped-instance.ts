import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import type { InstanceFile } from "../../../lib/local/instance-file.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");

/** A data folder with a demo, made once for a test file; each test leaves it stopped. */
export class StoppedInstance {
  readonly dataDir = mkdtempSync(join(tmpdir(), "bridge-test-"));
  #made: InstanceFile | null = null;

  /** What the first start said of itself. */
  get made(): InstanceFile {
    if (!this.#made) throw new Error("the data folder has not been created");
    return this.#made;
  }

  async make(): Promise<void> {
    chmodSync(this.dataDir, 0o711); // else PostgreSQL, which may run as another user, has its data elsewhere
    this.#made = await ended(this.serve(), readyThenStopped);
  }

  destroy(): void {
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  serve(...flags: string[]): ChildProcess {
    const port = flags.includes("--port") ? [] : ["--port", "0"];
    const order = ["bin/serve.ts", "--json", "--quiet-demo", "--data-dir", this.dataDir, ...port];
    return spawn(process.execPath, [...order, ...flags], { cwd: PROJECT, stdio: ["ignore", "pipe", "pipe"] });
  }

  /** All that a start says that does not come to be ready, and its exit code. */
  async refused(...flags: string[]): Promise<{ said: string; code: number | null }> {
    const child = this.serve(...flags);
    const [said, [code]] = await Promise.all([child.stderr ? text(child.stderr) : "", once(child, "exit")]);
    return { said, code };
  }
}

/** The state of a process until it is gone. */
export async function ended<Found>(child: ChildProcess, work: (child: ChildProcess) => Promise<Found>): Promise<Found> {
  const gone = once(child, "exit");
  const found = await work(child);
  await gone;
  return found;
}

/** What it says of itself when it is ready. */
export async function ready({ stdout }: ChildProcess): Promise<InstanceFile> {
  if (!stdout) throw new Error("the process has no output");
  const [line] = await Promise.race([
    once(createInterface({ input: stdout }), "line"),
    once(stdout, "close").then(() => Promise.reject(new Error("it ended before it was ready"))),
  ]);
  return JSON.parse(String(line)) as InstanceFile;
}

export async function readyThenStopped(child: ChildProcess): Promise<InstanceFile> {
  const file = await ready(child);
  child.kill("SIGTERM");
  return file;
}

/** A port that another program has until the test ends. */
export async function occupied(port = 0): Promise<number> {
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    await once(server, "close");
  });
  return (server.address() as { port: number }).port;
}

export const portOf = (url: string): number => Number(new URL(url).port);
