import { readOptions } from "../../lib/local/read-options.ts";
import { readImports } from "../support/checks/imports.ts";
import { chapterEdges, filesPerFolder, importCycles, productLines } from "./structure/count.ts";

const HELP = `npm run structure

The figures of the code's structure as JSON: lines of the product, imports between folders, the folders with the most
files, import cycles.`;

readOptions(HELP, {});
const imports = readImports();
const figures = {
  "product lines": productLines(),
  "imports between folders of lib/adapters/postgres": chapterEdges(imports, "lib/adapters/postgres/"),
  "imports between folders of lib/sync": chapterEdges(imports, "lib/sync/"),
  "most files in a folder": filesPerFolder(),
  "import cycles, type-only ones included": importCycles(imports, { withTypes: true }),
};
console.log(JSON.stringify(figures, null, 2));
