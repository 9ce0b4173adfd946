import { runBridge } from "../lib/cli/program.ts";

const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort());

// The reader of the output may have seen enough: `bridge audit | head`.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

const { stdin, stdout, stderr, env } = process;
const terminal = { stdin, stdout, stderr, env, folder: process.cwd(), interrupted: interrupted.signal };

process.exitCode = await runBridge(process.argv.slice(2), terminal, {
  openOperator: async (asked) => (await import("./operate.ts")).openOperator(asked),
  startOrg: async (asked) => (await import("../lib/local/org/run-org.ts")).openOrg(asked),
});
