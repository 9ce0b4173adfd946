import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/run/temporary-folder.ts";

const PACKAGE = JSON.stringify({
  scripts: { check: "node check.ts", greet: "node --print 1", start: "node start.ts" },
});

/** What a stub takes, and what it must refuse, so that a page with such a mistake fails its test. */
const STUBS: Readonly<Record<string, { readonly takes: readonly string[]; readonly refuses: readonly string[] }>> = {
  npm: {
    takes: ["install", "run check", "run greet"],
    refuses: ["instal", "install --all", "run chek", "run", "check", "test", "run check -- --fast", "start"],
  },
  psql: {
    takes: [],
    refuses: ["", "-c SELECT", "postgresql://127.0.0.1:1/none", "postgresql://127.0.0.1:1/none --comand SELECT"],
  },
  heroku: {
    takes: ["connect:export --app acme", "connect:export -a acme --resource main", "connect:pause --app acme"],
    refuses: [
      "connect:export",
      "connect:export --app other",
      "connect:export --app acme --resource second",
      "connect:export --app acme --file export.json",
      "connect:exprot --app acme",
      "connect:pause acme --app acme",
      "connect:pause",
    ],
  },
  sf: {
    takes: ["project deploy start --metadata-dir whole", "project deploy start --metadata-dir whole -o sandbox"],
    refuses: [
      "project deploy",
      "project deploy begin --metadata-dir whole",
      "project deploy start",
      "project deploy start whole --metadata-dir whole",
      "project deploy start --metadata-dir none",
      "project deploy start --metadata-dir torn",
      "project deploy start --metadata whole",
    ],
  },
};
const cases = Object.entries(STUBS).flatMap(([program, { takes, refuses }]) => [
  ...takes.map((words) => ({ program, words, verb: "takes" })),
  ...refuses.map((words) => ({ program, words, verb: "refuses" })),
]);

test.each(cases)("the stub of $program $verb `$words`", ({ program, words, verb }) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "package.json"), PACKAGE);
  writeFileSync(join(folder, "configuration.json"), "{}");
  for (const name of ["whole", "torn"]) {
    mkdirSync(join(folder, name, "flows"), { recursive: true });
    writeFileSync(join(folder, name, "package.xml"), "<types><members>Ring</members><name>Flow</name></types>");
  }
  writeFileSync(join(folder, "whole/flows/Ring.flow"), "");
  const stub = join(import.meta.dirname, "stubs", `${program}.ts`);
  const app = { HEROKU_APP: "acme", HEROKU_RESOURCE: "main", HEROKU_EXPORT: "configuration.json" };
  const env = { ...process.env, ...app, STUB_CALLS: join(folder, "calls") };
  const { status } = spawnSync(process.execPath, [stub, ...words.split(" ").filter(Boolean)], { cwd: folder, env });

  expect(status === 0).toBe(verb === "takes");
  expect(existsSync(join(folder, "calls"))).toBe(verb === "takes");
  expect(existsSync(join(folder, "acme-main.json"))).toBe(verb === "takes" && words.startsWith("connect:export"));
});
