import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { authentication, message } from "../support/doubles/backend-messages.ts";
import { type LyingPostgres, startLyingPostgres } from "../support/doubles/lying-postgres.ts";
import { openCommandLine } from "../support/processes/command-line.ts";
import { RunningInstance } from "../support/processes/instance.ts";

/** Far more than it takes, so that a busy machine fails nothing. */
const SOON = { timeout: 300_000, interval: 250 };

const PROJECT = resolve(import.meta.dirname, "../..");

vi.setConfig({ testTimeout: 900_000, hookTimeout: 300_000 });

const bridge = new RunningInstance();
let server: LyingPostgres;
beforeAll(async () => {
  const { database_url } = await bridge.start();
  server = await startLyingPostgres({ upstream: database_url });
});
afterAll(async () => {
  await bridge.destroy();
  await server.close();
});

const GSSAPI = message("R", authentication(7));
const ENDLESS_ERROR = message("E", Buffer.from("S"));

test("a workspace whose database server lies harms no other one, is named, and can be removed", async () => {
  const line = openCommandLine({ BRIDGE_DATA_DIR: bridge.dataDir });
  onTestFinished(() => line.close());
  const ok = async (...args: string[]) => expect(await line.run(args)).toMatchObject({ code: 0 });
  const create = ["workspace", "create", "Liar", "--owner", "ada@example.com", "--login"];
  const { workspace_id: liar } = await line.json<{ workspace_id: string }>(create);
  const { salesforce, database_url } = bridge.file;
  const url = Object.assign(new URL(database_url), { port: String(server.port) }).href;
  expect(await line.run(["connect", "postgres", "--schema", "liar"], { stdin: url })).toMatchObject({ code: 0 });
  await ok(
    ...["connect", "salesforce", "--flow", "password", "--login-url", salesforce.url],
    ...[
      "--client-id",
      salesforce.client_id ?? "",
      "--client-secret-file",
      line.file("s", salesforce.client_secret ?? ""),
    ],
    ...["--username", salesforce.username, "--password-file", line.file("p", salesforce.password)],
  );
  await ok("mapping", "create", "Contact", "--fields", "LastName");
  await vi.waitFor(async () => {
    expect(await line.json(["mapping", "list"])).toMatchObject([{ state: "running" }]);
  }, SOON);

  server.lie("in a result", ENDLESS_ERROR);
  await said(liar, "message E that does not have what it announces");
  server.lie("before the password", GSSAPI);
  await said(liar, "a sign-in by GSSAPI; use scram-sha-256");
  await bridge.kill();
  await bridge.start();
  await said(liar, "a sign-in by GSSAPI");
  await bridge.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Beside a liar')");
  await vi.waitFor(async () => {
    expect(await bridge.soql("SELECT Id FROM Contact WHERE LastName = 'Beside a liar'")).toHaveLength(1);
  }, SOON);

  // In a process of its own, for this one knows the cloud as it was before the start.
  const remove = (...more: string[]) => {
    const args = ["bin/bridge.ts", "workspace", "delete", liar, "--yes", "--by", "ada@example.com", ...more];
    const env = { ...process.env, HOME: line.folder, BRIDGE_DATA_DIR: bridge.dataDir };
    return promisify(execFile)(process.execPath, args, { cwd: PROJECT, env });
  };
  await expect(remove()).rejects.toThrow("a sign-in by GSSAPI");
  await remove("--leave-database");
});

/** Waits until a line of the log names a failed cycle of the workspace with these words; each call reads what is new. */
async function said(workspaceId: string, words: string): Promise<void> {
  await vi.waitFor(() => {
    const lines = readFileSync(join(bridge.dataDir, "bridge.log"), "utf8").trim().split("\n").slice(read);
    const found = lines
      .map((text) => JSON.parse(text))
      .findIndex(({ workspace_id, message: why }) => workspace_id === workspaceId && String(why).includes(words));
    expect(lines[found]).toContain('"reason":"postgres_unavailable"');
    read += found + 1;
  }, SOON);
}
let read = 0;
