import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { expect, test } from "vitest";
import type { Import } from "./support/checks/imports.ts";
import { importsOnce } from "./support/checks/imports-once.ts";

const IMPORTS = await importsOnce();

/** What adapters of different things have in common. */
const SHARED = ["time", "retry"].map((name) => `lib/adapters/${name}.ts`);

/** What is in `lib` beside the rooms. */
const NOT_ROOMS = ["model", "network", "http", "adapters", "heroku-connect", "infra", "cli", "console", "local"];

/** What a customer needs once, on the day on which it leaves Heroku Connect. */
const MOVE_FOLDER = "lib/heroku-connect/";

/** The npm workspaces, and the files beside them that they use, which PostgreSQL's launcher and the instance use as well. */
const WORKSPACES = {
  "lib/local/cloud": ["clock", "folder-lock", "free-port", "guarded-child", "heap", "origin", "platform-package"],
  "lib/local/org": ["folder-lock", "origin"],
};

/** Places whose imports within lib are of these places alone. Clients import words of the model, and nothing else of it. */
const CLIENT = ["package.json", "lib/model/nearest.ts", "lib/model/workspace/audit-actions.ts"];
const ALLOWED: readonly (readonly [place: string, others: readonly string[]])[] = [
  ["lib/model/", []],
  ["lib/network/", ["lib/model/"]],
  ["lib/http/", ["lib/model/", "lib/access/"]],
  ["lib/cli/", CLIENT],
  ["lib/console/", CLIENT],
  ...Object.entries(WORKSPACES).map(
    ([folder, shared]) => [`${folder}/`, shared.map((name) => `lib/local/${name}.ts`)] as const,
  ),
];

test.each(ALLOWED)("%s imports itself, and of the rest of the project no more than %j", (place, others) => {
  const strays = inLib(place).filter(({ to }) => ![place, ...others].some((allowed) => to.startsWith(allowed)));

  expect(importsOf(place).length).toBeGreaterThan(0);
  expect(strays).toEqual([]);
});

test("the model imports no package", () => {
  expect(importsOf("lib/model/").filter(({ isPackage }) => isPackage)).toEqual([]);
});

test("a room imports the model, itself, and of other rooms no more than their ports", () => {
  const rooms = inLib().filter(({ from }) => isRoom(from));

  const strays = rooms.filter(({ from, to }) => {
    if (to.startsWith("lib/model/") || placeOf(to) === placeOf(from)) return false;
    // The settings area is another door to the configuration and to failed rows, so it depends on those rooms.
    if (placeOf(from) === "lib/settings" && ["lib/config", "lib/monitoring"].includes(placeOf(to))) return false;
    return !(isRoom(to) && isPort(to));
  });

  expect(rooms.length).toBeGreaterThan(0);
  expect(strays).toEqual([]);
});

test("an adapter imports the model, the ports of rooms, and nothing of other adapters", () => {
  const strays = inLib("lib/adapters/").filter(({ from, to, isType }) => {
    if (to.startsWith("lib/model/") || to.startsWith("lib/network/") || SHARED.includes(to)) return false;
    if (placeOf(to).startsWith("lib/adapters/")) return placeOf(to) !== placeOf(from);
    return !(isRoom(to) && (isType || isPort(to)));
  });

  expect(strays).toEqual([]);
});

test("the move from Heroku Connect is known to its endpoint and the composition alone, and works on the settings and on PostgreSQL", () => {
  const importers = IMPORTS.filter(({ from, to }) => to.startsWith(MOVE_FOLDER) && !from.startsWith(MOVE_FOLDER));
  const known = new Set(importers.map(({ from }) => from).filter((from) => !from.startsWith("test/")));
  const places = [MOVE_FOLDER, "lib/model/", "lib/settings/", "lib/adapters/postgres/"];
  const strays = inLib(MOVE_FOLDER).filter(
    ({ to }) => !places.some((place) => to.startsWith(place)) && !(isRoom(to) && isPort(to)),
  );

  expect([...known].sort()).toEqual([
    "functions/api/adopt-heroku-connect.ts",
    "functions/services/composition.ts",
    "functions/services/cycle-services.ts",
  ]);
  expect(strays.map(({ to }) => to)).toEqual(["lib/monitoring/with-database.ts"]);
});

test.each([
  ["lib/adapters/dynamodb/", ["@aws-sdk/client-dynamodb", "@aws-sdk/lib-dynamodb"]],
  ["lib/adapters/sqs/", ["@aws-sdk/client-sqs"]],
  ["lib/adapters/scheduler/", ["@aws-sdk/client-scheduler"]],
  ["lib/adapters/secrets/", ["@aws-sdk/client-kms"]],
  ["lib/adapters/postgres/", ["pg"]],
  ["lib/adapters/salesforce/write/write-records.ts", ["jsforce"]], // which speaks SOAP and nothing else
])("of what is deployed, only %s imports %j", (adapter, packages) => {
  const importers = deployed().filter(({ to }) => packages.includes(to));

  expect(importers.length).toBeGreaterThan(0);
  expect(importers.filter(({ from }) => !from.startsWith(adapter))).toEqual([]);
});

test("of what is deployed, only two files make requests of their own: the guarded fetch, and the webhook client's POST", () => {
  const callers = [...new Set(deployed().map(({ from }) => from))].filter((file) =>
    /(?<![\w.])fetch\(|globalThis\.fetch|\b(XMLHttpRequest|EventSource|WebSocket)\b/.test(readFileSync(file, "utf8")),
  );
  const clients = ["node:http", "node:https", "node:http2", "undici"];
  const importers = deployed().filter(({ to, isType }) => clients.includes(to) && !isType);

  expect(callers).toEqual(["lib/adapters/salesforce/guarded-fetch.ts"]);
  expect([...new Set(importers.map(({ from }) => from))]).toEqual(["lib/adapters/webhook-client/post.ts"]);
});

test("functions import http, rooms and the model, and get their adapters from the composition beside them", () => {
  const entries = importsOf("functions/").filter(({ isPackage }) => !isPackage);

  const strays = entries.filter(({ from, to }) => {
    if (to.startsWith("functions/") || to.startsWith("lib/http/") || to.startsWith("lib/model/") || isRoom(to))
      return false;
    if (from === "functions/api/adopt-heroku-connect.ts" && to.startsWith(MOVE_FOLDER)) return false;
    const isOutside = /^lib\/(adapters|heroku-connect|network)\//.test(to);
    return !(isOutside && /^functions\/(services|invocation)\//.test(from));
  });

  expect(entries.length).toBeGreaterThan(0);
  expect(strays).toEqual([]);
});

test("the deployment reads the route table, the API's description with its codes, the names, the rules of stages and addresses and what a misspelt name is near to, nothing else", () => {
  // What writes that description reads the endpoints' shapes and signs a sample of a webhook.
  const describing = ["lib/http/", "lib/model/", "lib/webhooks/sign.ts"];

  const strays = inLib("lib/infra/").filter(
    ({ from, to }) =>
      !(from.startsWith("lib/infra/describe-api/") && describing.some((place) => to.startsWith(place))) &&
      ![
        "lib/infra/",
        "lib/http/routes.ts",
        "lib/http/openapi/",
        ...["resources", "stage", "address", "nearest", "failure"].map((name) => `lib/model/${name}.ts`),
      ].some((place) => to.startsWith(place)),
  );

  expect(strays).toEqual([]);
});

test("the local parts are imported by bin and tests alone, and import the deployment and its names alone", () => {
  const importers = IMPORTS.filter(({ from, to }) => to.startsWith("lib/local/") && !from.startsWith("lib/local/"));
  const allowed = ["lib/local/", "lib/infra/", "lib/model/resources.ts"];
  // The demo makes its workspace as an operator does, before there is a token for the API.
  const operators = ["functions/services/composition.ts", "lib/access/bootstrap.ts"];

  const strays = inLib("lib/local/").filter(({ from, to }) => {
    return (
      !allowed.some((place) => to.startsWith(place)) && !(from === "lib/local/demo/demo.ts" && operators.includes(to))
    );
  });

  // `npm start`, `bridge org`, which runs the org alone, and a program that reads its options.
  const starters = ["bin/serve.ts", "bin/bridge.ts", "bin/restore-tables.ts"];
  expect(importers.filter(({ from }) => !starters.includes(from) && !from.startsWith("test/"))).toEqual([]);
  expect(strays).toEqual([]);
});

test.each(Object.keys(WORKSPACES))("the workspace %s depends on exactly the packages that it imports", (folder) => {
  const { dependencies = {} } = manifestIn(folder);

  expect(packagesOf(importsOf(`${folder}/`))).toEqual(Object.keys(dependencies).sort());
});

test("the product depends on exactly the packages that it imports, and what is deployed on no tool", () => {
  const { dependencies = {}, devDependencies = {} } = manifestIn(".");
  const product = IMPORTS.filter(({ from, isType }) => /^(bin|functions|lib)\//.test(from) && !isType);
  const imported = packagesOf(product.filter(({ from }) => !/^lib\/(local|console)\//.test(from)));

  // The build and the synthesis, which run where the project is installed whole, use tools as well.
  expect(imported.filter((name) => !(name in devDependencies))).toEqual(Object.keys(dependencies).sort());
  expect(packagesOf(deployed().filter(({ isType }) => !isType)).filter((name) => name in devDependencies)).toEqual([]);
});

test("a package has one exact version, whichever manifest names it", () => {
  const manifests = [".", ...Object.keys(WORKSPACES)].map(manifestIn);
  const named = manifests.flatMap(({ dependencies, devDependencies, optionalDependencies }) =>
    Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }),
  );
  const versions = Map.groupBy(named, ([name]) => name);

  expect(named.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  expect([...versions.values()].filter((asked) => new Set(asked.map(([, version]) => version)).size > 1)).toEqual([]);
});

test("nothing that runs imports a test", () => {
  const isOfTests = (file: string) => file.startsWith("test/") || file === "vitest.config.ts";

  expect(IMPORTS.filter(({ from, to }) => to.startsWith("test/") && !isOfTests(from))).toEqual([]);
});

test("benches and proofs, which Node runs on its own, need no Vitest", () => {
  const begin = IMPORTS.map(({ from }) => from).filter((from) =>
    /^test\/programs\/(bench|prove)\/[\w-]+\.ts$/.test(from),
  );
  const reached = reachedFrom(begin.filter((from) => !from.endsWith(".test.ts")));

  expect(reached.size).toBeGreaterThan(10);
  expect(IMPORTS.filter(({ from, to, isType }) => reached.has(from) && to === "vitest" && !isType)).toEqual([]);
});

test("zod comes in its small form wherever it is bundled", () => {
  expect(deployed().filter(({ to, specifier }) => to === "zod" && specifier !== "zod/mini")).toEqual([]);
});

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const manifestIn = (folder: string): Manifest => JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));

/** The packages of the registry among these imports. */
function packagesOf(imports: readonly Import[]): string[] {
  const packages = imports.filter(({ isPackage, to }) => isPackage && !isBuiltin(to));
  return [...new Set(packages.map(({ to }) => to))].sort();
}

function importsOf(folder: string): Import[] {
  return IMPORTS.filter(({ from }) => from.startsWith(folder));
}

/** Imports between files of the project that are below lib. */
function inLib(folder = "lib/"): Import[] {
  return importsOf(folder).filter(({ isPackage }) => !isPackage);
}

/** These files and all that they load. */
function reachedFrom(files: readonly string[]): ReadonlySet<string> {
  const reached = new Set(files);
  // What is added while a set is walked is walked, too.
  for (const file of reached) {
    for (const { from, to, isType } of IMPORTS) if (from === file && !isType) reached.add(to);
  }
  return reached;
}

/** Imports of what becomes part of a bundle. */
function deployed(): Import[] {
  return IMPORTS.filter(
    ({ from }) => /^(functions|lib)\//.test(from) && !/^lib\/(local|infra|cli|console|docs)\//.test(from),
  );
}

const isRoom = (path: string): boolean => path.startsWith("lib/") && !NOT_ROOMS.includes(path.split("/")[1] ?? "");

const isPort = (path: string): boolean => /(^|\/|-)ports\.ts$/.test(path);

/** The room or adapter that a file belongs to. */
const placeOf = (path: string): string =>
  path
    .split("/")
    .slice(0, path.startsWith("lib/adapters/") ? 3 : 2)
    .join("/");
