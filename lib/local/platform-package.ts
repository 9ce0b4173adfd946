import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/**
 * The folder of an optional package that carries programs for this kind of machine, such as `@dynoxide/linux-x64`.
 * Throws with the remedy when it is not installed.
 */
export function platformPackage(scope: string, platform = `${process.platform}-${process.arch}`): string {
  const name = `${scope}/${platform}`;
  const places = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const found = places.map((place) => join(place, name)).find((folder) => existsSync(join(folder, "package.json")));
  if (found) return found;
  throw new Error(
    `the package ${name} is not installed: run \`npm install\` on this machine, optional dependencies included ` +
      "(not `npm ci`, not `--omit=optional`); where there is no such package, this kind of machine is not supported",
  );
}
