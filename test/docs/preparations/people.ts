import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { jsonOf, listed, type Preparations } from "./shared.ts";

export const people = {
  /** The colleague has the link that a block before has written to a file. */
  colleague: async (reader) => {
    expect(await reader.types()).toContain("as ada@example.com (read)");
  },

  /** The token has been rotated in a block before, and its old one has ended. */
  leaver: async (reader) => {
    const tokens = async () =>
      (await listed<Token>(reader, "/tokens")).filter(({ name, state }) => name === "ada" && state === "valid");
    const [, old] = await tokens();
    await reader.run(`npx bridge token revoke ${old?.id}`);
    await reader.types();

    expect(await tokens()).toEqual([]);
  },

  /** A second workspace, which is connected and has no mapping yet, and the files with a token of each. */
  "two-stages": async (reader) => {
    const { base_url, workspace_id, api_token } = reader.instance.file;
    const create = "workspace create Production --owner ada@example.com --login";
    const made = await jsonOf<{ workspace_id: string; token: string }>(reader, create);
    await reader.run("npx bridge connect postgres && npx bridge connect salesforce");
    writeFileSync(join(reader.folder, "production.token"), made.token);
    writeFileSync(join(reader.folder, "test.token"), api_token ?? "");
    await reader.types({
      lines: 1,
      placeholders: { "https://bridge.example.com": base_url, "ws_…": made.workspace_id },
    });
    await reader.types({ placeholders: { "https://test.example.com": base_url, "ws_…": workspace_id ?? "" } });

    expect(await reader.run("npx bridge whoami")).toContain(workspace_id);
  },
} satisfies Preparations;

interface Token {
  readonly id: string;
  readonly name: string;
  readonly state: string;
}
