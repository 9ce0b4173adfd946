import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { keepCall, refuse, typed } from "./stub.ts";

// Replaces npm in a clone whose packages are installed and whose instance runs: it checks what was typed.

const [command = "", ...rest] = typed;
const words = command === "run" ? rest.slice(1) : rest;
if (words.length > 0) refuse("it does not know these words");
if (command === "install") keepCall("npm");
else await run(scriptOf());

/** The name of the script that was asked for. */
function scriptOf(): string {
  const name = command === "run" ? (rest[0] ?? "") : command;
  if (command !== "run" && command !== "start" && command !== "test") refuse("npm has no such command");
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly scripts: object };
  if (!Object.hasOwn(scripts, name)) refuse(`package.json has no script ${name}`);
  return name;
}

/** What takes minutes, or runs already, is not run again. */
async function run(script: string): Promise<void> {
  if (script === "start") await seeInstance();
  else if (script !== "test" && script !== "check") {
    const { status } = spawnSync(process.execPath, ["--run", script], { stdio: "inherit" });
    if (status !== 0) process.exit(status ?? 1);
  }
  keepCall("npm");
}

async function seeInstance(): Promise<void> {
  const { base_url } = JSON.parse(readFileSync(".bridge/instance.json", "utf8")) as { readonly base_url: string };
  const { ok } = await fetch(`${base_url}/openapi.json`);
  if (!ok) refuse("no instance answers in this folder");
}
