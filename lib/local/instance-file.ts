import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What scripts need to know of a running instance (design section 8); it holds credentials, so only its owner reads it. */
export interface InstanceFile {
  readonly pid: number;
  readonly base_url: string;
  readonly metrics_url: string;
  readonly workspace_id: string | null;
  readonly api_token: string | null;
  readonly database_url: string;
  readonly salesforce: {
    readonly url: string;
    readonly username: string;
    readonly password: string;
    readonly access_token: string;
  };
}

const NAME = "instance.json";

/** The same while the first start is still making the demo, so that the next one can end what was begun. */
const BEGUN = "instance.begun.json";

/** Replaces the file in one step, so that nobody reads half of it. */
export function writeInstanceFile(dataDir: string, instance: InstanceFile): string {
  const path = write(dataDir, NAME, instance);
  rmSync(join(dataDir, BEGUN), { force: true });
  return path;
}

/** Keeps what an instance is while its demo is not made yet. */
export function writeBegunFile(dataDir: string, instance: InstanceFile): void {
  write(dataDir, BEGUN, instance);
}

function write(dataDir: string, name: string, instance: InstanceFile): string {
  const path = join(dataDir, name);
  const next = `${path}.next`;
  writeFileSync(next, `${JSON.stringify(instance, null, 2)}\n`, { mode: 0o600 });
  chmodSync(next, 0o600);
  renameSync(next, path);
  return path;
}

/** What the last start wrote; null on the first start. Its pid may have ended long ago. */
export function readInstanceFile(dataDir: string): (InstanceFile & { readonly isBegun: boolean }) | null {
  const begun = read(dataDir, BEGUN);
  if (begun) return { ...begun, isBegun: true };
  const whole = read(dataDir, NAME);
  return whole && { ...whole, isBegun: false };
}

function read(dataDir: string, name: string): InstanceFile | null {
  try {
    return JSON.parse(readFileSync(join(dataDir, name), "utf8")) as InstanceFile;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new Error(`${join(dataDir, name)} can't be read: remove it and start again`, { cause: error });
  }
}
