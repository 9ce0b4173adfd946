import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";

/** A module named *.sql.ts reads the SQL file beside it. A bundle, which is one file, has the text of that file instead. */
export const sqlAsText: Plugin = {
  name: "sql-as-text",
  setup(build) {
    build.onLoad({ filter: /\.sql\.ts$/ }, async ({ path }) => ({
      contents: await readFile(path.replace(/\.ts$/, "")),
      loader: "text",
    }));
  },
};
