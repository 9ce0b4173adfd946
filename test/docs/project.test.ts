import { expect, test } from "vitest";
import { AUDIT_ACTIONS } from "../../lib/model/workspace/audit-actions.ts";
import manifest from "../../package.json" with { type: "json" };
import { shellBlocks, textOf } from "./blocks.ts";

const WORKFLOW = textOf(".github/workflows/ci.yml");

test("the public CI runs the commands that the README names for a change, on the Node of package.json", () => {
  const section = textOf("README.md").split("\n## Working on it\n")[1] ?? "";
  const commands = shellBlocks("README.md", section).flatMap((block) => block.commands.split("\n"));
  const steps = [...WORKFLOW.matchAll(/^ {6}- run: (.+)$/gm)].map(([, command]) => command);

  expect(commands).toEqual(["npm install && npm test", "npm run check"]);
  expect(steps).toEqual(commands);
  expect(manifest.engines.node).toContain(`>=${/node-version: (\d+)/.exec(WORKFLOW)?.[1]}.`);
});

test("every script that CONTRIBUTING.md names is in package.json", () => {
  const named = [...textOf(".github/CONTRIBUTING.md").matchAll(/npm run ([\w:]+)/g)].map(([, script = ""]) => script);

  expect(named.length).toBeGreaterThan(2);
  expect(named.filter((script) => !(script in manifest.scripts))).toEqual([]);
});

test("lists-and-changes.md has each action of the audit log, with the type of its resource", () => {
  const rows = [...textOf("lib/docs/lists-and-changes.md").matchAll(/^\| `(\w+)` \| (`\w+\.\w+`.*) \|$/gm)];
  const listed = rows.flatMap(([, type = "", actions = ""]) =>
    actions.split(", ").map((action) => [action.replaceAll("`", ""), type]),
  );

  const types = Object.entries(AUDIT_ACTIONS).map(([action, [type]]) => [action, type]);
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(types));
});

test("the public CI may read the repository and nothing else", () => {
  expect(WORKFLOW).toMatch(/^permissions:\n {2}contents: read\n\n/m);
  expect(WORKFLOW).not.toContain("secrets.");
});

test("the public CI runs each action at a commit that no tag can move", () => {
  const actions = [...WORKFLOW.matchAll(/^ +- uses: (.+)$/gm)].map(([, action]) => action);

  expect(actions.length).toBeGreaterThan(0);
  for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
