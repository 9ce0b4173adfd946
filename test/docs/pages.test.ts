import { createHmac } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ERRORS } from "../../lib/http/openapi/errors.ts";
import openapi from "../../lib/http/openapi/openapi.json" with { type: "json" };
import { STATUS_OF } from "../../lib/model/failure.ts";
import { AUDIT_ACTIONS } from "../../lib/model/workspace/audit-actions.ts";
import { MAPPING_STATES } from "../../lib/settings/mapping-view.ts";
import manifest from "../../package.json" with { type: "json" };
import { fencesIn, PROJECT, shellBlocks, textOf } from "./blocks.ts";

/** Pages and the project's own files beside what they describe. */

const RECEIVING = textOf("lib/docs/receive-webhooks.md");
const TROUBLES = textOf("lib/docs/troubleshooting.md");
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

interface Sent {
  readonly description: string;
  readonly parameters: readonly { readonly name: string; readonly example: string }[];
  readonly requestBody: { readonly content: { readonly "application/json": { readonly example: unknown } } };
}
const sent = Object.entries(openapi.webhooks as Readonly<Record<string, { readonly post: Sent }>>);

test.each(sent)("the sample of %s in the API's description is signed as its text says", (event, { post }) => {
  const body = JSON.stringify(post.requestBody.content["application/json"].example);
  const headers = Object.fromEntries(post.parameters.map(({ name, example }) => [name, example]));
  const [secret = "", older = ""] = post.description.match(/whsec_[\w+/=]+/g) ?? [];
  const hmac = (key: string) => `sha256=${createHmac("sha256", key).update(body).digest("hex")}`;
  const signed = `evt_7f2c1d.1769847302.${body}`;
  const standard = (key: string) =>
    `v1,${createHmac("sha256", Buffer.from(key.slice(6), "base64"))
      .update(signed)
      .digest("base64")}`;

  expect(headers).toEqual({
    "X-Bridge-Signature": hmac(secret),
    "X-Bridge-Signature-Previous": hmac(older),
    "webhook-id": "evt_7f2c1d",
    "webhook-timestamp": "1769847302",
    "webhook-signature": `${standard(secret)} ${standard(older)}`,
    "X-Bridge-Event": event,
    "X-Bridge-Delivery": "dlv_2K9xPq",
    "X-Bridge-Attempt": "1",
  });
});

test("the page's sample is that of record.failed, and it names every event with its fields", () => {
  const { post } = (openapi.webhooks as Readonly<Record<string, { readonly post: Sent }>>)["record.failed"] ?? {};
  const headers = Object.fromEntries((post?.parameters ?? []).map(({ name, example }) => [name, example]));
  const body = JSON.stringify(post?.requestBody.content["application/json"].example);

  expect(RECEIVING).toContain(`\n${body}\n`);
  expect(RECEIVING).toContain(`\`${headers["X-Bridge-Signature"]}\``);
  expect(RECEIVING).toContain(`\`${headers["webhook-signature"]?.split(" ")[0]}\``);
  expect(RECEIVING).toContain(`\`${/whsec_[\w+/=]+/.exec(post?.description ?? "")?.[0]}\``);
  for (const [event, { post: described }] of sent) {
    const { data } = described.requestBody.content["application/json"].example as { readonly data: object };
    const line =
      RECEIVING.split("\n").find((one) => one.startsWith(`| \`${event}\``) || one.startsWith(`\`${event}\``)) ?? "";
    const fields = event === "mapping.deactivated" ? [] : Object.keys(data);
    for (const field of fields) expect(`${event}: ${line}`).toContain(`\`${field}\``);
    expect(line).not.toBe("");
  }
});

test("troubleshooting.md has each error code of the API with its status and its remedy", () => {
  const expected = Object.entries(ERRORS).map(
    ([code, words]) => `| \`${code}\` | ${STATUS_OF[code as keyof typeof STATUS_OF]} | ${words.join(" | ")} |`,
  );

  expect(rowsBelow("## Error codes of the API")).toEqual(expected);
});

test("troubleshooting.md has each state that a mapping can be in", () => {
  expect(namesIn("## States of a mapping").toSorted()).toEqual([...MAPPING_STATES].toSorted());
});

test("troubleshooting.md has each event that a log line can name, and no other", () => {
  const ofService = ["lib", "functions"].flatMap((folder) => eventsOf(folder, /^(local|cli|console)\//));
  const ofOneMachine = eventsOf("lib/local", /^org\//);
  const kinds = ["load", "backfill", "sweep", "dry_run"]; // `event` of long work is the kind of its message

  expect(ofService.length).toBeGreaterThan(6);
  expect(new Set(namesIn("## Log lines"))).toEqual(new Set([...ofService, ...ofOneMachine, ...kinds]));
});

/** Table rows below a heading, without the head of a table. */
function rowsBelow(heading: string): string[] {
  const section = TROUBLES.split(`\n${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  return section.split("\n").filter((line) => /^\| `[^`]+`[ ,]/.test(line) && !line.includes("`event` |"));
}

/** The names in the first cells. */
const namesIn = (heading: string): string[] =>
  rowsBelow(heading).flatMap((row) =>
    [...(row.split(" | ")[0] ?? "").matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
  );

/** What the sources below a folder write as `event` of a log line: in an object that has a `level` as well. */
function eventsOf(folder: string, aside: RegExp): string[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !aside.test(file))
    .flatMap((file) => [...textOf(join(folder, file)).matchAll(/\blevel\b[^{}]{0,80}?\bevent: "([^"]+)"/g)])
    .map(([, event = ""]) => event);
}

test("one-machine.md starts a program that is there, with settings that npm-start.md has", () => {
  const [settings = "", unit = ""] = fencesIn(textOf("lib/docs/one-machine.md"))
    .filter(({ words }) => words === "ini")
    .map(({ content }) => content);
  const [, program = ""] = /^ExecStart=.* (\S+\.ts)\b/m.exec(unit) ?? [];
  const names = [...settings.matchAll(/^(\w+)=/gm)].map(([, name]) => name);

  expect(existsSync(join(PROJECT, program))).toBe(true);
  expect(names.filter((name) => !textOf("lib/docs/npm-start.md").includes(`\`${name}\``))).toEqual([]);
});
