import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { siteLambda } from "../lib/http/lambda.ts";
import type { Site } from "../lib/http/site.ts";

/** Beside the bundle lie the built files of the console. */
const FOLDER = join(import.meta.dirname, "site");

/** Serves the console: its page at `/`, everything that the page loads below `/assets`. Nothing is counted, nobody is asked for. */
export const handler = siteLambda(readSite, () => new Date());

function readSite(): Site {
  const entries = readdirSync(FOLDER, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      return [file.slice(FOLDER.length + 1).replaceAll("\\", "/"), readFileSync(file)];
    }),
  );
}
