import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions } from "../../lib/local/read-options.ts";
import { readImports } from "../support/checks/imports.ts";
import { chapterEdges, filesPerFolder, importCycles, largestPort, productLines } from "./structure/count.ts";
import type { Stack } from "./structure/frames.ts";

const HELP = `npm run structure [-- --json] [--no-stacks]

The figures of the code's structure: lines of the product, imports between folders, files per folder, import cycles, the
largest file of ports, and how deep the calls are when a cycle writes (frames and files of lib and functions at the
connection to PostgreSQL).

  --json       the figures as JSON
  --no-stacks  leaves out the depths, for which a cycle runs in an embedded cloud`;

const options = readOptions(HELP, {
  json: { type: "boolean", default: false },
  "no-stacks": { type: "boolean", default: false },
});

const imports = readImports();
const figures = {
  "product lines": productLines(),
  "imports between folders of lib/adapters/postgres": chapterEdges(imports, "lib/adapters/postgres/"),
  "imports between folders of lib/sync": chapterEdges(imports, "lib/sync/"),
  "most files in a folder": filesPerFolder(),
  "import cycles": importCycles(imports, { withTypes: false }),
  "import cycles, type-only ones included": importCycles(imports, { withTypes: true }),
  "exports of the largest port": largestPort(),
  ...(options["no-stacks"] ? {} : stacks()),
};

if (options.json) console.log(JSON.stringify(figures, null, 2));
else for (const [name, figure] of Object.entries(figures)) console.log(`${name}: ${asText(figure)}`);

function asText(figure: unknown): string {
  return typeof figure === "object" ? JSON.stringify(figure) : String(figure);
}

/** Frames and files of each stack that the test beside this program measures. */
function stacks(): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), "bridge-structure-"));
  const report = join(folder, "stacks.json");
  try {
    const run = spawnSync("vitest", ["run", "test/programs/structure"], {
      env: { ...process.env, STRUCTURE_REPORT: report },
      stdio: ["ignore", "ignore", "inherit"],
    });
    if (run.error) throw run.error;
    const measured = JSON.parse(readFileSync(report, "utf8")) as Record<string, Stack>;
    return Object.fromEntries(
      Object.entries(measured).map(([what, { frames, files }]) => [
        what,
        `${frames.length} frames, ${files.length} files`,
      ]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
