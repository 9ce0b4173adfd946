import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { siteLambda } from "../lib/http/lambda.ts";
import type { Site } from "../lib/http/site.ts";

/** Beside the bundle lie the built files of the site. */
const FOLDER = join(import.meta.dirname, "site");

/** Serves the console at `/`, the documentation at `/docs`, what their pages load below `/assets`, and the API's description at `/openapi`, without a token and uncounted. */
export const handler = siteLambda(site, () => new Date());

let read: Site | null = null;

function site(): Site {
  read ??= readSite();
  return read;
}

function readSite(): Site {
  const entries = readdirSync(FOLDER, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      return [file.slice(FOLDER.length + 1).replaceAll("\\", "/"), readFileSync(file)];
    }),
  );
}
