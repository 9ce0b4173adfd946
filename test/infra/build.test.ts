import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { build, missingFunctions, strayPackages } from "../../lib/infra/build.ts";
import { temporaryFolder } from "../support/run/temporary-folder.ts";
import { longTest } from "../support/run/whole-grid.ts";
import { writeFunctions } from "./fixture-functions.ts";

const JSFORCE = JSON.stringify(fileURLToPath(import.meta.resolve("jsforce")));
const CALL_SALESFORCE = `
  import { Connection } from ${JSFORCE};
  export const handler = async ({ url }) =>
    new Connection({ instanceUrl: url, accessToken: "00D!token" }).query("SELECT Id FROM Contact");
`;

test("every function becomes a folder of its own that runs on its own, one that is gone is deployed no more, and what exports no handler is none", async () => {
  const { functions, out } = project();

  const bundles = await build({ functions, out, strict: true });
  const built = readdirSync(out).sort();
  rmSync(join(functions, "api/read-drift.ts"));
  writeFileSync(join(functions, "compose.ts"), "export const handle = 1;\n");
  await build({ functions, out });

  const module = (await import(pathToFileURL(join(out, "list-mappings/index.mjs")).href)) as Handler;
  expect(await module.handler({ path: "/x" })).toEqual({ statusCode: 200, body: `{"path":"/x"}` });
  expect(built).toEqual(bundles.map(({ name }) => name));
  expect(readdirSync(out).sort()).toEqual(built.filter((name) => name !== "read-drift"));
});

longTest(
  "the build refuses a row that no file answers, jsforce where the row does not talk to Salesforce, and two functions of one name",
  async () => {
    const lone = project();
    rmSync(join(lone.functions, "workers/run-cycle.ts"));
    const heavy = project({ "list-mappings": CALL_SALESFORCE, "run-cycle": CALL_SALESFORCE });
    const twice = project();
    writeFileSync(join(twice.functions, "list-mappings.ts"), "export const handler = async () => 1;\n");

    await expect(build({ ...lone, strict: true })).rejects.toThrow("functions/workers/run-cycle.ts");
    const refused = build({ ...heavy, strict: true });
    await expect(refused).rejects.toThrow(/list-mappings bundles jsforce/);
    await expect(refused).rejects.not.toThrow(/run-cycle/);
    await expect(build(twice)).rejects.toThrow("shares its name");
  },
);

longTest(
  "bundles are built again when a source or an SQL file that it reads changes or a bundle is lost, and else kept",
  async () => {
    const { functions, out } = project();
    const bundle = join(out, "list-mappings/index.mjs");
    const source = 'import first from "./first.sql.ts";\nexport const handler = async () => first;\n';
    writeFileSync(join(functions, "api/first.sql.ts"), "export default 'the file beside this one';\n");
    writeFileSync(join(functions, "api/first.sql"), "SELECT '`$$`';\n");
    writeFileSync(join(functions, "api/list-mappings.ts"), source);
    const first = await build({ functions, out });
    utimesSync(bundle, 1, 1);

    expect(await build({ functions, out })).toEqual(first);
    expect(statSync(bundle).mtimeMs).toBe(1000);
    const module = (await import(pathToFileURL(bundle).href)) as Handler;
    expect(await module.handler({})).toBe("SELECT '`$$`';\n");
    writeFileSync(join(functions, "api/first.sql"), "SELECT 2;\n");
    await build({ functions, out });
    expect(readFileSync(bundle, "utf8")).toContain("SELECT 2;");
    writeFileSync(join(functions, "api/list-mappings.ts"), "export const handler = async () => 42;\n");
    await build({ functions, out });
    const changed = readFileSync(bundle, "utf8");
    rmSync(bundle);
    await build({ functions, out });
    expect(changed).toContain("42");
    expect(readFileSync(bundle, "utf8")).toBe(changed);
  },
);

longTest("jsforce is bundled without its own copy of undici, its licences beside it, and no source map", async () => {
  const { functions, out } = project({ "run-cycle": CALL_SALESFORCE });

  const bundles = await build({ functions, out, maps: true });

  expect(bundles.find(({ name }) => name === "run-cycle")?.packages).not.toContain("undici");
  expect(readdirSync(join(out, "run-cycle")).sort()).toEqual(["index.mjs", "index.mjs.LEGAL.txt"]);
  expect(readFileSync(join(out, "run-cycle/index.mjs"), "utf8")).not.toContain("sourceMappingURL");
  expect(existsSync(join(out, "../maps/run-cycle.mjs.map"))).toBe(true);
});

test("every row of the tables has its function, and only those that talk to Salesforce hold jsforce", async () => {
  const bundles = await build(); // those that `npm test` has just built

  expect(missingFunctions(bundles)).toEqual([]);
  expect(strayPackages(bundles)).toEqual([]);
});

interface Handler {
  readonly handler: (event: unknown) => Promise<unknown>;
}

function project(sources: Record<string, string> = {}): { functions: string; out: string } {
  const folder = temporaryFolder();
  return { functions: writeFunctions(join(folder, "functions"), sources), out: join(folder, "dist/functions") };
}
