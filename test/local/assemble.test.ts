import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { assemble } from "../../lib/local/assemble.ts";
import { provideRuntime } from "../../lib/local/cloud/lambda/runtime/response-stream.ts";
import { type Assembly, readAssembly, type TemplateResource } from "../../lib/local/cloud/lambda/template/assembly.ts";
import { temporaryFolder } from "../support/run/temporary-folder.ts";
import { firstInGate } from "../support/run/whole-grid.ts";

let deployed: Assembly;
let local: Assembly;
beforeAll(async () => {
  deployed = readAssembly(await assemble());
  local = readAssembly(await assemble({ shared: true }));
});

test("npm start runs the deployment's definitions, all but the digests of the bundles", () => {
  expect(local.stacks.map(withoutCode)).toEqual(deployed.stacks.map(withoutCode));
  expect(keysOf(local)).toHaveLength(keysOf(deployed).length);
});

test("each function that npm start runs is there and loads", async () => {
  provideRuntime();
  const keys = keysOf(local);

  const handlers = await Promise.all(
    keys.map(async (key) => (await import(pathToFileURL(join(local.assetFolder(key), "index.mjs")).href)).handler),
  );

  expect(keys.length).toBeGreaterThan(80);
  expect(handlers.map((handler) => typeof handler)).toEqual(keys.map(() => "function"));
});

test.each(
  firstInGate(2, [
    ["is refused", 'console.error("Refused: no such option"); process.exitCode = 1;', "Refused: no such option"],
    ["ends without an assembly", "", "holds no cloud assembly"],
    [
      "has no stacks, as a second app of the CDK writes at exit",
      'import { App, Stack } from "aws-cdk-lib"; const app = new App(); new Stack(app, "S"); app.synth(); new App();',
      "the deployment has no stacks",
    ],
  ] as const),
)("a deployment that %s cannot be started either, and leaves nothing behind", async (_, program, reason) => {
  const project = projectOf(program);
  const { assemble: assembleThere } = (await import(pathToFileURL(join(project, "lib/local/assemble.ts")).href)) as {
    assemble: typeof assemble;
  };

  await expect(assembleThere({ shared: true })).rejects.toThrow(reason);

  expect(readdirSync(join(project, "dist/assemblies"))).toEqual([]);
});

/** The project with another program in the place of the one that cdk.json names. */
function projectOf(program: string): string {
  const [project, copy] = [resolve(import.meta.dirname, "../.."), temporaryFolder()];
  for (const name of ["lib/infra", "lib/local", "lib/model", "bin", "package.json"])
    cpSync(join(project, name), join(copy, name), {
      recursive: true,
      filter: (file) => !/node_modules/.test(file.slice(project.length)),
    });
  symlinkSync(join(project, "node_modules"), join(copy, "node_modules"));
  mkdirSync(join(copy, "functions"));
  writeFileSync(join(copy, "bin/planted.ts"), program);
  const settings = JSON.parse(readFileSync(join(project, "cdk.json"), "utf8")) as object;
  writeFileSync(join(copy, "cdk.json"), JSON.stringify({ ...settings, app: "node bin/planted.ts" }));
  return copy;
}

const codeOf = ({ Properties }: TemplateResource) => Properties?.["Code"] as { readonly S3Key?: string } | undefined;

const keysOf = ({ stacks }: Assembly): string[] =>
  stacks.flatMap(({ resources }) => Object.values(resources)).flatMap((resource) => codeOf(resource)?.S3Key ?? []);

/** Everything of a stack that says what runs when, with which variables and rights. */
function withoutCode({ resources, ...stack }: Assembly["stacks"][number]) {
  const plain = Object.entries(resources).map(([id, resource]) => {
    if (!codeOf(resource)) return [id, resource];
    const { Code: _, ...Properties } = resource.Properties ?? {};
    return [id, { Type: resource.Type, Properties }];
  });
  return { ...stack, resources: Object.fromEntries(plain) };
}
