import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import type { InstanceFile } from "../../lib/local/instance-file.ts";
import { welcome } from "../../lib/local/welcome.ts";
import { temporaryFolder } from "../support/run/temporary-folder.ts";

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

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
  expect(lines.at(-1)).toMatch(/^A writer changes sample rows for 60 minutes\. .*demo stop$/);
  for (const stopped of [JSON.stringify({ left: 0 }), "damaged"]) {
    writeFileSync(join(folder, "demo-writer.json"), stopped);
    expect(linesOf(INSTANCE).at(-1)).toMatch(/is stopped\. .*demo start$/);
  }
  expect(lines.join("\n")).not.toContain("a-password");
});

test("an instance without a demo begins with its first workspace", () => {
  const lines = linesOf({ ...INSTANCE, workspace_id: null, api_token: null });

  expect(lines[1]).toBe("  Console  http://127.0.0.1:8080/");
  expect(lines[2]).toMatch(/workspace create --help$/);
});

test("a command names the data folder where this one is not the default of its folder", () => {
  expect(welcome(INSTANCE, join(".bridge", "instance.json"))).not.toContain("BRIDGE_DATA_DIR");
  for (const elsewhere of [join(folder, ".bridge"), folder])
    expect(welcome(INSTANCE, join(elsewhere, "instance.json"))).toContain(`BRIDGE_DATA_DIR=${elsewhere} `);
});
