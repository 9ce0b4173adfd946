import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const GUARD = fileURLToPath(new URL("../../lib/local/require-node.mjs", import.meta.url));

/** Runs the guard as if this Node were of another version. */
function guardUnder(version: string): Promise<{ code: number; words: string }> {
  const pretend = `Object.defineProperty(process, "versions", { value: { node: "${version}" } })`;
  return new Promise((resolve) => {
    execFile(process.execPath, ["--import", `data:text/javascript,${pretend}`, GUARD], (error, _, stderr) => {
      resolve({ code: Number(error?.code ?? 0), words: stderr });
    });
  });
}

test.each(["20.20.2", "24.14.1", "25.0.0"])("Node %s is refused with the remedy", async (version) => {
  const { code, words } = await guardUnder(version);

  expect([code, words]).toEqual([1, expect.stringContaining(`this is Node ${version}`)]);
  expect(words).toContain("npm install");
});

test("Node 24.15.0 is let through in silence", async () => {
  expect(await guardUnder("24.15.0")).toEqual({ code: 0, words: "" });
});
