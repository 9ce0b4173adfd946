import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";

const fileSchema = z.readonly(
  z.object({
    pid: z.int(),
    base_url: z.url(),
    metrics_url: z.url(),
    workspace_id: z.nullable(z.string()),
    api_token: z.nullable(z.string()),
    database_url: z.url(),
    salesforce: z.readonly(
      z.object({
        url: z.url(),
        username: z.string(),
        password: z.string(),
        access_token: z.string(),
        // Version 0.2 wrote none.
        client_id: z.optional(z.string()),
        client_secret: z.optional(z.string()),
      }),
    ),
  }),
);

/** What scripts need to know of a running instance; it holds credentials, so only its owner reads it. */
export type InstanceFile = z.infer<typeof fileSchema>;

const NAME = "instance.json";

/** The same while the first start is still making the demo, so that the next one can end what was begun. */
const BEGUN = "instance.begun.json";

/** Replaces the file in one step, so that no reader gets half of it; keeps whether a demo was begun. */
export function writeInstanceFile(dataDir: string, instance: InstanceFile, isDemoMade: boolean): string {
  const path = write(dataDir, NAME, instance);
  if (isDemoMade) rmSync(join(dataDir, BEGUN), { force: true });
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
  const path = join(dataDir, name);
  try {
    return fileSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    const reason = error instanceof z.core.$ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new Error(`${path} is not as a start writes it: correct it, or choose another data folder\n${reason}`);
  }
}
