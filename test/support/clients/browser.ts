import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The system's Chromium, by CHROMIUM or on the PATH; undefined when there is none. */
export function findChromium(): string | undefined {
  const named = process.env["CHROMIUM"];
  if (named) return named;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((file) => existsSync(file));
}

/** Says, once and in one line, why nothing is tried in a browser. */
export function sayWithoutChromium(): void {
  if (findChromium() === undefined)
    console.warn(
      "No Chromium: the console's journeys are skipped. Debian: apt-get install chromium; else set CHROMIUM.",
    );
}

/** A browser without a window; `hosts` are names that lead to this machine. */
export function startBrowser(hosts: readonly string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("there is no Chromium on this machine");
  // Chromium refuses its sandbox to root, as tests in a container run.
  const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const rules = hosts.map((host) => `MAP ${host} 127.0.0.1`).join(", ");
  const names = rules === "" ? [] : [`--host-resolver-rules=${rules}`];
  return chromium.launch({ executablePath, args: [...sandbox, ...names] });
}

/** What a page complained of: scripts that threw, and what its policy refused. */
export function complaintsOf(context: BrowserContext): string[] {
  const complaints: string[] = [];
  const listen = (page: Page) => {
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      // A refused request is a line in the browser's console and an answer in the page.
      const isAnswer = message.text().startsWith("Failed to load resource");
      if (message.type() === "error" && !isAnswer) complaints.push(message.text());
    });
  };
  for (const page of context.pages()) listen(page);
  context.on("page", listen);
  return complaints;
}

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** What axe finds on a page once nothing moves any more, of any grade. */
export async function allFindings(page: Page): Promise<string[]> {
  // What fades in has less contrast on its way, which begins with the frame after the one that shows it.
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  await page.evaluate("Promise.allSettled(document.getAnimations().map(({ finished }) => finished))");
  await page.evaluate(axe.source);
  const violations = (await page.evaluate("axe.run(document).then(({ violations }) => violations)")) as Violation[];
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`),
  );
}
