import { spawn } from "node:child_process";
import { delimiter, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { temporaryFolder } from "../support/run/temporary-folder.ts";

const PROJECT = resolve(import.meta.dirname, "../..");

/** What a shell that a person has just opened does not hold: variables of this run, of npm, of the CDK and of AWS. */
const OF_THIS_RUN = /^(npm_|BRIDGE_|CDK_|AWS_|VITEST|NODE_|TEST$|TINYPOOL|DEBUG$|CI$|https?_proxy$)/i;

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of the documentation as it is typed: in the project's folder, in a clean shell without a home. */
export async function typed(command: string, environment: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const child = spawn(command, {
    cwd: PROJECT,
    shell: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...cleanEnvironment(), ...environment },
  });
  const ended = new Promise<number | null>((done, fail) => child.once("error", fail).once("close", done));
  const [status, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { status, stdout, stderr };
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !OF_THIS_RUN.test(name));
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  return {
    ...Object.fromEntries(kept),
    PATH: path.join(delimiter),
    HOME: temporaryFolder(),
    AWS_EC2_METADATA_DISABLED: "true", // no metadata service is asked for credentials
    CDK_DISABLE_CLI_TELEMETRY: "true",
    npm_config_update_notifier: "false",
  };
}
