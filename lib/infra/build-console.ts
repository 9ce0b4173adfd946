import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { sourcesIn } from "./freshness.ts";

/** The built console: its files by path relative to its root, and what a first visit loads of script. */
export interface BuiltConsole {
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly firstLoad: FirstLoad;
}

/** Gzipped bytes of the entry and everything that it imports before the page shows; pages come later, one by one. */
interface FirstLoad {
  readonly scriptBytes: number;
  readonly styleBytes: number;
}

/** What a phone on a bad line may have to wait for. */
export const MOST_SCRIPT_BYTES = 130 * 1024;

const PROJECT = resolve(import.meta.dirname, "../..");
const SOURCES = join(PROJECT, "lib/console");
const BUILT = join(PROJECT, "dist/console");

/** A digest of the console's build: its sources, the API's types, and the packages installed. */
function digestOfConsole(): string {
  const hash = createHash("sha256");
  const files = [
    ...sourcesIn(SOURCES, () => true).map((file) => join(SOURCES, file)),
    join(PROJECT, "lib/http/openapi/types.ts"),
    join(import.meta.dirname, "build-console.ts"),
    join(PROJECT, "node_modules/.package-lock.json"),
  ];
  for (const file of files.filter((each) => existsSync(each)))
    hash.update(`${file.slice(PROJECT.length)}\0`).update(readFileSync(file));
  return hash.digest("hex").slice(0, 20);
}

/** Builds the console with Vite unless these sources were built before. Throws when a first visit would load too much script. */
export async function buildConsole(): Promise<BuiltConsole> {
  const folder = join(BUILT, digestOfConsole());
  if (!existsSync(folder)) await buildApart(folder);
  const firstLoad = JSON.parse(readFileSync(join(folder, "first-load.json"), "utf8")) as FirstLoad;
  return { files: filesIn(join(folder, "site")), firstLoad };
}

/** In a process of its own: Vite is large, and what it makes depends on NODE_ENV, which tests set. */
async function buildApart(folder: string): Promise<void> {
  const env = { ...process.env, NODE_ENV: "production" };
  try {
    await promisify(execFile)(process.execPath, [fileURLToPath(import.meta.url), folder], { env });
  } catch (error) {
    const { stderr = "" } = error as { stderr?: string };
    throw new Error(`the console could not be built:\n${stderr.trim()}`, { cause: error });
  }
}

/** The folder appears whole or not at all, also when others build the same; theirs are removed. */
async function buildInto(folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`;
  try {
    const firstLoad = await buildSite(join(unfinished, "site"));
    refuseHeavy(firstLoad);
    writeFileSync(join(unfinished, "first-load.json"), JSON.stringify(firstLoad));
    if (!existsSync(folder)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  for (const other of readdirSync(BUILT)) {
    // One with a point in its name is still being built.
    if (other !== basename(folder) && !other.includes("."))
      rmSync(join(BUILT, other), { recursive: true, force: true });
  }
}

async function buildSite(outDir: string): Promise<FirstLoad> {
  const { build } = await import("vite");
  const made = await build({
    configFile: join(SOURCES, "vite.config.ts"),
    configLoader: "native",
    logLevel: "warn",
    build: { outDir, emptyOutDir: true },
  });
  return measure("output" in made ? (made.output as readonly Output[]) : []);
}

/** What is read of the bundler's output. */
interface Output {
  readonly fileName: string;
  readonly type: "chunk" | "asset";
  readonly code?: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly viteMetadata?: { readonly importedCss: ReadonlySet<string> };
  readonly source?: string | Uint8Array;
}

function measure(output: readonly Output[]): FirstLoad {
  const named = new Map(output.map((file) => [file.fileName, file]));
  const first = new Set<Output>();
  const visit = (file: Output | undefined): void => {
    if (!file || first.has(file)) return;
    first.add(file);
    for (const name of file.imports ?? []) visit(named.get(name));
  };
  for (const file of output) if (file.isEntry) visit(file);
  const styles = new Set([...first].flatMap(({ viteMetadata }) => [...(viteMetadata?.importedCss ?? [])]));
  return {
    scriptBytes: sum([...first].map(({ code = "" }) => gzipSync(code, { level: 9 }).length)),
    styleBytes: sum([...styles].map((name) => gzipSync(named.get(name)?.source ?? "", { level: 9 }).length)),
  };
}

function refuseHeavy({ scriptBytes }: FirstLoad): void {
  if (scriptBytes <= MOST_SCRIPT_BYTES) return;
  throw new Error(
    `The console loads ${inKibibytes(scriptBytes)} of script at first, of ${inKibibytes(MOST_SCRIPT_BYTES)} allowed: load what a first page does not need with lazy()`,
  );
}

/** `97 KiB` */
export const inKibibytes = (bytes: number): string => `${Math.ceil(bytes / 1024)} KiB`;

const sum = (figures: readonly number[]): number => figures.reduce((total, figure) => total + figure, 0);

function filesIn(folder: string): Map<string, Uint8Array> {
  return new Map(sourcesIn(folder, () => true).map((file) => [file, readFileSync(join(folder, file))]));
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await buildInto(process.argv[2] ?? join(BUILT, digestOfConsole()));
