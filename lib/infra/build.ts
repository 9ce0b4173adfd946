import { existsSync, readdirSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions as BuildOptionsOfEsbuild, type BuildResult, build as esbuild, type Metafile } from "esbuild";
import { ROUTES } from "../http/routes.ts";
import { type Access, WORKERS } from "../model/resources.ts";
import { buildConsole, inKibibytes, MOST_SCRIPT_BYTES } from "./build-console.ts";
import { buildDocs } from "./build-docs.ts";
import type { Bundle } from "./bundle.ts";
import { digestOfSources, freshBundles, stampBundles } from "./freshness.ts";
import { httpByRequire } from "./http-by-require.ts";
import { buildApiPages } from "./pages/api-pages.ts";
import { replaceFolders } from "./replace-folders.ts";
import { sqlAsText } from "./sql-as-text.ts";

interface BuildOptions {
  /** Where the entry files are; every file below it that exports `handler` is a function. */
  readonly functions?: string;
  /** Where the folders go, one per function; folders of functions that are gone are removed. */
  readonly out?: string;
  /** Refuse what may not be deployed: a row without a file, or a bundle that breaks a promise of its row. */
  readonly strict?: boolean;
  /** Write source maps to `<out>/../maps`, beside what is deployed. */
  readonly maps?: boolean;
}

const PROJECT = resolve(import.meta.dirname, "../..");

/** The folder of the bundles that are deployed and that the local host runs. */
export const BUNDLES = join(PROJECT, "dist/functions");

/**
 * Bundles every function with its dependencies, the SDK included (a bundled SDK starts faster than the runtime's own).
 * Same sources, same bytes, wherever the project lies: so the maps that read a trace of production can be built when
 * they are needed, from the same commit, and no build has to pay for them. Bundles whose sources have not changed are
 * kept.
 */
export async function build(options: BuildOptions = {}): Promise<readonly Bundle[]> {
  const { out = BUNDLES, functions = join(PROJECT, "functions") } = options;
  const sources = digestOfSources(PROJECT, functions);
  const fresh = options.maps ? undefined : freshBundles(out, sources);
  const bundles = fresh ?? (await buildAnew(out, functions, { sourcemap: options.maps ? "external" : false }));
  if (options.strict) refuse([...missingFunctions(bundles), ...strayPackages(bundles)]);
  stampBundles(out, sources, bundles);
  return bundles;
}

/**
 * The same functions for one machine: what they have in common is in files beside their folders (`../chunk-….mjs`)
 * instead of in each of them, and nothing is minified. That takes a tenth of the time, and a process that runs all of
 * them loads everything once.
 */
export async function buildShared(out: string): Promise<void> {
  await buildAnew(out, join(PROJECT, "functions"), { splitting: true, minify: false, chunkNames: "chunk-[hash]" });
}

async function buildAnew(out: string, functions: string, how: BuildWay): Promise<Bundle[]> {
  const entries = await findEntries(functions);
  // Each builds in a process of its own, so both at once.
  const hasConsole = entries.some(({ name }) => name === CONSOLE);
  const [built, site, docs] = await Promise.all([
    bundle(entries, out, how),
    hasConsole ? buildConsole() : null,
    hasConsole ? buildDocs() : null,
  ]);
  const files = filesOf(built, out);
  const parts = [site?.files, docs, hasConsole ? buildApiPages() : null];
  for (const [path, contents] of parts.flatMap((part) => [...(part ?? [])]))
    files.set(`${CONSOLE}/site/${path}`, contents);
  replaceFolders(out, files);
  return bundlesOf(built.metafile);
}

/** The function that serves the console: its bundle carries the built files, those of the documentation, and the API's description. */
const CONSOLE = "console";

/** Where a build differs from that of the deployment. */
type BuildWay = Pick<BuildOptionsOfEsbuild, "splitting" | "minify" | "chunkNames" | "sourcemap">;

const bundle = (entries: readonly Entry[], out: string, how: BuildWay) =>
  esbuild({
    absWorkingDir: PROJECT,
    entryPoints: entries.map(({ name, file }) => ({ in: file, out: `${name}/index` })),
    outdir: out,
    write: false,
    metafile: true,
    bundle: true,
    minify: true,
    legalComments: "external",
    platform: "node",
    target: "node24",
    format: "esm",
    // Loaded where a connection names a secret, from the runtime.
    external: ["@aws-sdk/client-secrets-manager"],
    outExtension: { ".js": ".mjs" },
    mainFields: ["module", "main"],
    alias: {
      // jsforce brings a copy of undici (730 KB) for what the runtime's own fetch does.
      undici: join(import.meta.dirname, "undici-by-fetch.ts"),
      "@aws-sdk/credential-provider-node": join(import.meta.dirname, "environment-credentials.ts"),
    },
    banner: {
      js: 'import{createRequire as bridgeRequire}from"node:module";const require=bridgeRequire(import.meta.url);',
    },
    plugins: [httpByRequire, sqlAsText],
    logLevel: "warning",
    ...how,
  });

/** Rows of the tables that no file answers yet, as sentences. */
export function missingFunctions(bundles: readonly Bundle[]): string[] {
  const present = new Set(bundles.map(({ name }) => name));
  return [
    ...Object.keys(ROUTES).map((name) => ({ name, remedy: `functions/api/${name}.ts` })),
    ...Object.keys(WORKERS).map((name) => ({ name, remedy: `functions/workers/${name}.ts` })),
    { name: "no-such-endpoint", remedy: "functions/no-such-endpoint.ts" },
    { name: CONSOLE, remedy: "functions/console.ts" },
  ]
    .filter(({ name }) => !present.has(name))
    .map(({ name, remedy }) => `${name} has no function: ${remedy} must export "handler"`);
}

/** What a bundle may hold only if its row says so. */
const BY_ROW = { jsforce: "salesforce", pg: "postgres" } as const;

/** Bundles that hold a client of Salesforce or PostgreSQL though their row does not say so, as sentences. */
export function strayPackages(bundles: readonly Bundle[]): string[] {
  const rows: Record<string, Access & { readonly salesforce?: boolean }> = {
    ...ROUTES,
    ...WORKERS,
  };
  return bundles.flatMap(({ name, entry, packages }) =>
    (["jsforce", "pg"] as const)
      .filter((client) => packages.includes(client) && !rows[name]?.[BY_ROW[client]])
      .map(
        (client) =>
          `${name} bundles ${client}, but its row does not say ${BY_ROW[client]}: look at what ${entry} imports`,
      ),
  );
}

interface Entry {
  readonly name: string;
  readonly file: string;
}

/** Every file below the folder that exports `handler`, by its own name, which must be the only one of its kind. */
async function findEntries(folder: string): Promise<Entry[]> {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"))
    .sort()
    .map((file) => join(folder, file));
  const { metafile } = await esbuild({
    absWorkingDir: folder,
    entryPoints: files,
    outdir: folder,
    bundle: false,
    write: false,
    metafile: true,
  });
  const entries = Object.values(metafile.outputs)
    .filter((output) => output.exports.includes("handler"))
    .map(({ entryPoint = "" }) => ({ name: nameOf(entryPoint), file: join(folder, entryPoint) }));
  refuse(
    entries
      .filter(({ name }, index) => entries.findIndex((other) => other.name === name) !== index)
      .map(({ file }) => `${relative(PROJECT, file)} shares its name with another function: rename one`),
  );
  return entries;
}

function bundlesOf(metafile: Metafile): Bundle[] {
  return Object.entries(metafile.outputs)
    .filter(([file]) => file.endsWith(".mjs"))
    .map(([file, output]) => ({
      name: nameOf(dirname(file)),
      entry: output.entryPoint ?? file,
      bytes: output.bytes,
      packages: [...new Set(Object.keys(output.inputs).flatMap(packageOf))].sort(),
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The files to write, by path relative to the output folder. */
function filesOf(built: BuildResult<{ write: false }>, out: string): Map<string, Uint8Array> {
  return new Map(
    built.outputFiles
      .filter(({ path, contents }) => !path.endsWith(".LEGAL.txt") || contents.length > 0)
      .map(({ path, contents }) => [relative(out, path).split(sep).join("/"), contents] as const)
      .map(([path, contents]) => [path.endsWith(".map") ? `../maps/${dirname(path)}.mjs.map` : path, contents]),
  );
}

function packageOf(input: string): string[] {
  const [, scope, name] = /.*node_modules\/(@[^/]+\/)?([^/]+)/.exec(input) ?? [];
  return name === undefined ? [] : [`${scope ?? ""}${name}`];
}

function nameOf(path: string): string {
  return path.split(/[\\/]/).at(-1)?.replace(/\.ts$/, "") ?? path;
}

function refuse(reasons: readonly string[]): void {
  if (reasons.length > 0) throw new Error(`The build is refused:\n  ${reasons.join("\n  ")}`);
}

/** `npm run build [-- --strict] [--json] [--maps]` */
async function main(flags: readonly string[]): Promise<void> {
  const bundles = await build({ strict: flags.includes("--strict"), maps: flags.includes("--maps") });
  if (flags.includes("--json")) return console.log(JSON.stringify(bundles, null, 2));
  for (const { name, bytes } of bundles) console.log(`${String(Math.round(bytes / 1024)).padStart(6)} KiB  ${name}`);
  const { scriptBytes, styleBytes } = (await buildConsole()).firstLoad;
  console.log(
    `console, first visit: ${inKibibytes(scriptBytes)} of script (of ${inKibibytes(MOST_SCRIPT_BYTES)}), ${inKibibytes(styleBytes)} of styles, gzipped`,
  );
  for (const reason of missingFunctions(bundles)) console.warn(`warning: ${reason}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main(process.argv.slice(2)).catch((error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
}
