import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { InstanceFile } from "../../lib/local/instance-file.ts";
import { welcome } from "../../lib/local/welcome.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "bridge-welcome-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const INSTANCE = {
  base_url: "http://127.0.0.1:8080",
  workspace_id: "ws_1",
  api_token: "brg_a_1",
  database_url: "postgresql://bridge:a-password@127.0.0.1:5433/bridge",
} as InstanceFile;

const linesOf = (instance: InstanceFile) =>
  welcome(instance, join(folder, "instance.json"))
    .split("\n")
    .filter((line) => line !== "");

test("the greeting has the console's address and one command in six lines at most, and no password", () => {
  writeFileSync(join(folder, "demo-writer.json"), JSON.stringify({ left: 450 }));

  const lines = linesOf(INSTANCE);

  expect(lines.length).toBeLessThanOrEqual(6);
  expect(lines[1]).toBe("  Console  http://127.0.0.1:8080/#/sign-in?workspace=ws_1&token=brg_a_1");
  expect(lines[2]).toMatch(/^ {2}Try it {3}.*bridge(\.mjs)? sql "UPDATE salesforce\.contact SET title = 'Countess'/);
  expect(lines.filter((line) => line.startsWith("  "))).toHaveLength(2);
  expect(lines.at(-1)).toMatch(/demo stop$/);
  expect(lines.join("\n")).not.toContain("a-password");
});

test("an instance without a demo begins with its first workspace", () => {
  const lines = linesOf({ ...INSTANCE, workspace_id: null, api_token: null });

  expect(lines[1]).toBe("  Console  http://127.0.0.1:8080/");
  expect(lines[2]).toMatch(/workspace create --help$/);
});
