import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { eachCliWorld } from "./world.ts";

const PROJECT = join(import.meta.dirname, "../..");
const TSC = join(PROJECT, "node_modules/.bin/tsc");
const run = promisify(execFile);

let folder: string;
let tarball: string;
const world = eachCliWorld(beforeAll);
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "bridge-package-"));
  await run(process.execPath, ["lib/infra/build-package.ts"], { cwd: PROJECT });
  const name = readdirSync(join(PROJECT, "dist")).find((file) => file.endsWith(`-${manifest.version}.tgz`));
  tarball = join(PROJECT, "dist", name ?? "");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const MAPPING = { id: "map_1", name: "Contact", sf_object: "Contact", pg_table: "contact", active: true };

test("the packed command line installs by npm install --global, without a dependency, and asks the service", async () => {
  world.answer("GET /tokens/current", { id: "tok_1", name: "ci", owner: "ada@example.com", scopes: ["read"] });
  const prefix = join(folder, "global");
  await run("npm", ["install", "--global", "--prefix", prefix, "--offline", tarball]);
  const env = { ...process.env, HOME: folder, BRIDGE_URL: world.url, BRIDGE_WORKSPACE: "ws_1", BRIDGE_TOKEN: "brg_1" };
  const bridge = (...args: string[]) => run(join(prefix, "bin/bridge"), args, { cwd: folder, env });

  expect((await bridge("--version")).stdout.trim()).toBe(manifest.version);
  expect((await bridge("whoami")).stdout).toContain("ada@example.com");
  expect(world.asked.at(-1)?.headers.authorization).toBe("Bearer brg_1");
  await expect(bridge("explode")).rejects.toMatchObject({ code: 2 });
  expect(readdirSync(join(prefix, "lib/node_modules/@bridge-sync"))).toEqual(["bridge"]);
});

const CLIENT = `
import createClient from "openapi-fetch";
import type { ListMappingsData, paths } from "@bridge-sync/bridge/api";

const client = createClient<paths>({ baseUrl: process.argv[2] ?? "", headers: { Authorization: "Bearer brg_1" } });
const { data, error } = await client.GET("/api/v1/t/{workspace_id}/mappings", { params: { path: { workspace_id: "ws_1" } } });
if (error) throw new Error(error.error.code);
const mappings: ListMappingsData = data.data;
console.log(mappings.map(({ sf_object }) => sf_object).join());
`;

const WRONG = `
import createClient from "openapi-fetch";
import type { paths } from "@bridge-sync/bridge/api";

const client = createClient<paths>({ baseUrl: "" });
await client.GET("/api/v1/t/{workspace_id}/mapings", { params: { path: { workspace_id: "ws_1" } } });
await client.GET("/api/v1/t/{workspace_id}/monitoring/activity", { params: { path: { workspace_id: "ws_1" }, query: { state: "DONE" } } });
await client.POST("/api/v1/t/{workspace_id}/webhooks", { params: { path: { workspace_id: "ws_1" } } });
`;

test("its types serve a client that was generated elsewhere, and refuse what the API has not", async () => {
  const project = join(folder, "client");
  mkdirSync(project);
  world.answer("GET /mappings", [MAPPING]);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "client", type: "module", private: true }));
  await run("npm", ["install", "--no-audit", "--no-fund", tarball, "openapi-fetch@0.17.0"], { cwd: project });
  writeFileSync(join(project, "good.ts"), CLIENT);
  writeFileSync(join(project, "wrong.ts"), WRONG);
  const options = "--strict --noEmit --module nodenext --target esnext --types node --typeRoots".split(" ");
  const check = (file: string) =>
    run(TSC, [...options, join(PROJECT, "node_modules/@types"), file], { cwd: project }).catch(({ stdout }) => {
      throw new Error(stdout);
    });

  await check("good.ts");
  expect((await run(process.execPath, ["good.ts", world.url], { cwd: project })).stdout).toBe("Contact\n");
  const refused = await check("wrong.ts").then(String, ({ message }: Error) => message);
  expect([...refused.matchAll(/wrong\.ts\((\d+),/g)].map(([, line]) => line)).toEqual(["6", "7", "8"]);
});
