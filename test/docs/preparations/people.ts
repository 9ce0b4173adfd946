import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Reader } from "../reader.ts";

interface Token {
  readonly id: string;
  readonly name: string;
  readonly state: string;
}

/** The colleague has the link that a block before has written to a file. */
export async function colleague(reader: Reader): Promise<void> {
  const said = await reader.types();

  expect(said).toContain("as ada@example.com (read)");
}

/** The token has been rotated in a block before, and its old one has ended. */
export async function leaver(reader: Reader): Promise<void> {
  const tokens = async () =>
    ((await reader.instance.api("GET", "/tokens")).body.data as Token[]).filter(
      ({ name, state }) => name === "ada" && state === "valid",
    );
  const [, old] = await tokens();
  await reader.run(`npx bridge token revoke ${old?.id}`);
  await reader.types();

  expect(await tokens()).toEqual([]);
}

/** A second workspace, which is connected and has no mapping yet, and the files with a token of each. */
export async function twoStages(reader: Reader): Promise<void> {
  const { base_url, workspace_id, api_token } = reader.instance.file;
  const made = JSON.parse(
    await reader.run("npx bridge workspace create Production --owner ada@example.com --login --json"),
  ) as { workspace_id: string; token: string };
  await reader.run("npx bridge connect postgres && npx bridge connect salesforce");
  writeFileSync(join(reader.folder, "production.token"), made.token);
  writeFileSync(join(reader.folder, "test.token"), api_token ?? "");
  await reader.types({
    lines: 1,
    placeholders: { "https://bridge.example.com": base_url, "ws_…": made.workspace_id },
  });
  await reader.types({ placeholders: { "https://test.example.com": base_url, "ws_…": workspace_id ?? "" } });

  expect(await reader.run("npx bridge whoami")).toContain(workspace_id);
}
