import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, expect, test, vi } from "vitest";
import { assemble } from "../../lib/local/assemble.ts";
import { provideRuntime } from "../../lib/local/cloud/lambda/runtime/response-stream.ts";
import { type Assembly, readAssembly, type TemplateResource } from "../../lib/local/cloud/lambda/template/assembly.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 300_000 });

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

const codeOf = ({ Properties }: TemplateResource) => Properties?.["Code"] as { readonly S3Key?: string } | undefined;

const keysOf = ({ stacks }: Assembly): string[] =>
  stacks.flatMap(({ resources }) => Object.values(resources)).flatMap((resource) => codeOf(resource)?.S3Key ?? []);

/** Everything of a stack that says what runs when, with which variables and rights. */
function withoutCode({ resources, ...stack }: Assembly["stacks"][number]) {
  const plain = Object.entries(resources).map(([id, resource]) => {
    if (!codeOf(resource)) return [id, resource];
    const { Code: _, ...Properties } = resource.Properties ?? {};
    return [id, { ...resource, Properties }];
  });
  return { ...stack, resources: Object.fromEntries(plain) };
}
