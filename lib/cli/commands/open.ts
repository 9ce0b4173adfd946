import { spawn } from "node:child_process";
import { type Context, isSet, segment } from "../context.ts";
import { findMapping } from "../find.ts";
import type { Terminal } from "../terminal.ts";

/** Pages of the console by the names that the command line has for the same things. */
const PAGES: Readonly<Record<string, string>> = {
  overview: "/",
  mappings: "/mappings",
  activity: "/activity",
  errors: "/activity/failed",
  "inbound-errors": "/activity/inbound",
  conflicts: "/activity/conflicts",
  config: "/configuration",
  drift: "/configuration/drift",
  webhooks: "/webhooks",
  connections: "/connections",
  tokens: "/tokens",
  audit: "/audit-log",
};

/**
 * Opens a page of the console in the browser. The token does not go along: it would be in the list of processes and in
 * the browser's history, and the console asks for it once.
 */
export async function openConsole(context: Context): Promise<void> {
  const url = `${context.target().url}/#${await pathOf(context)}`;
  const opened = !isSet(context, "print") && (await openInBrowser(url, context.terminal));
  if (!opened && !isSet(context, "print")) context.out.note("No browser could be started; open this address yourself:");
  context.out.done(url, { url, opened });
}

async function pathOf(context: Context): Promise<string> {
  const [wanted = "overview"] = context.args;
  const page = PAGES[wanted];
  if (page !== undefined) return page;
  if (/^\d+$/.test(wanted)) return `/activity/${wanted}`;
  if (wanted.startsWith("whk_")) return `/webhooks/${segment(wanted)}`;
  return `/mappings/${segment((await findMapping(context.api(), wanted)).id)}`;
}

/** What opens an address, by platform; none of them is a shell, so nothing in the address is run. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** False: there is no such program. The browser is not waited for. */
function openInBrowser(url: string, { env }: Terminal): Promise<boolean> {
  const [program, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const browser = spawn(program, [...args, url], { env, stdio: "ignore", detached: true });
  browser.unref();
  return new Promise((resolve) => {
    browser.once("spawn", () => resolve(true)).once("error", () => resolve(false));
  });
}
