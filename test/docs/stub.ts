import { spawnSync } from "node:child_process";
import { appendFileSync, copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "pg";

// Replaces a program that the first argument names: it does what the pages use of it, and refuses all else.

const [program = "", ...typed] = process.argv.slice(2);

/** Ends the stub as its program ends for what it does not know. */
function refuse(message: string): never {
  console.error(`stub: ${message}: ${typed.join(" ")}`);
  process.exit(64);
}

/** The options of these names, each with its letter or none, and the words. */
function parsed(options: Readonly<Record<string, string>>) {
  const known = Object.entries(options).map(([name, short]) => [name, { type: "string", ...(short && { short }) }]);
  const { values, positionals } = parseArgs({
    ...{ args: typed, options: Object.fromEntries(known) as Record<string, { type: "string" }> },
    allowPositionals: true,
  });
  return { values: values as Readonly<Record<string, string | undefined>>, words: positionals };
}

/** The app and the connection that the Heroku CLI knows, and the file with what it exports. */
const HEROKU = { app: "acme", resource: "herokuconnect-clear-12345", exported: ".exported.json" };

const STUBS: Readonly<Record<string, () => Promise<void>>> = {
  /** The Heroku CLI with heroku-connect-plugin (0.13), for one app, its connection, and its configuration in a file. */
  heroku: async () => {
    const { values, words } = parsed({ app: "a", resource: "" });
    const [command, ...rest] = words;
    if (rest.length > 0) refuse("it takes no such argument");
    if (command !== "connect:export" && command !== "connect:pause") refuse("heroku has no such command");
    if (values["app"] !== HEROKU.app) refuse("Missing required flag app, or no such app");
    if ((values["resource"] ?? HEROKU.resource) !== HEROKU.resource) refuse("the app has no such connection");
    if (command === "connect:export") copyFileSync(HEROKU.exported, `${HEROKU.app}-${HEROKU.resource}.json`);
  },

  /** In a clone whose packages are installed and whose instance runs: what takes minutes, or runs already, is not run. */
  npm: async () => {
    const [command = "", name = command] = typed;
    if (command === "install" || name === "test" || name === "check") return;
    if (name === "start") {
      const { base_url } = JSON.parse(readFileSync(".bridge/instance.json", "utf8")) as { readonly base_url: string };
      if (!(await fetch(`${base_url}/openapi.json`)).ok) refuse("no instance answers in this folder");
    } else {
      const { status } = spawnSync(process.execPath, ["--run", name], { stdio: "inherit" });
      if (status !== 0) process.exit(status ?? 1);
    }
  },

  /** `psql URL -c STATEMENT` */
  psql: async () => {
    const { values, words } = parsed({ command: "c" });
    const [connectionString, ...rest] = words;
    const { command } = values;
    if (connectionString === undefined || rest.length > 0 || command === undefined) refuse("it takes a URL and -c");
    const client = new Client({ connectionString });
    await client.connect();
    await client.query(command).finally(() => client.end());
  },

  /** The Salesforce CLI, which has a default org: `sf project deploy start --metadata-dir FOLDER` */
  sf: async () => {
    const { values, words } = parsed({ "metadata-dir": "", "target-org": "o" });
    if (words.join(" ") !== "project deploy start") refuse("sf has no such command");
    const folder = values["metadata-dir"];
    if (folder === undefined || !existsSync(join(folder, "package.xml")))
      refuse("there is no package.xml in the folder");
  },
};

await STUBS[program]?.();
appendFileSync(process.env["STUB_CALLS"] ?? "/dev/null", `${[program, ...typed].join(" ")}\n`);
