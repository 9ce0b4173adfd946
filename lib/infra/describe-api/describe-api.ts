import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeApi } from "./document.ts";
import { readEndpoints } from "./read-endpoints.ts";
import { typesOf } from "./typescript.ts";

const folder = join(import.meta.dirname, "../../http/openapi");
const document = describeApi(await readEndpoints());
writeFileSync(join(folder, "openapi.json"), `${JSON.stringify(document, null, 1)}\n`);
writeFileSync(join(folder, "types.ts"), typesOf(document));
console.log(`${Object.keys(document.paths).length} paths are described in lib/http/openapi`);
