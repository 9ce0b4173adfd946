import { copyFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { keepCall, refuse } from "./stub.ts";

// Replaces the Heroku CLI with its plugin heroku-connect-plugin (0.13), for the app `HEROKU_APP`, whose connection is
// called `HEROKU_RESOURCE`, and whose configuration is the file `HEROKU_EXPORT`.

const { HEROKU_APP = "", HEROKU_RESOURCE = "", HEROKU_EXPORT = "" } = process.env;
const { values, positionals } = parseArgs({
  options: { app: { type: "string", short: "a" }, resource: { type: "string" } },
  allowPositionals: true,
});
const [command, ...rest] = positionals;
if (rest.length > 0) refuse("it takes no such argument");
if (command !== "connect:export" && command !== "connect:pause") refuse("heroku has no such command");
if (values.app === undefined) refuse("Missing required flag app");
if (values.app !== HEROKU_APP) refuse("Couldn't find that app");
if (values.resource !== undefined && values.resource !== HEROKU_RESOURCE) refuse("the app has no such connection");
if (command === "connect:export") copyFileSync(HEROKU_EXPORT, `${HEROKU_APP}-${HEROKU_RESOURCE}.json`);
keepCall("heroku");
