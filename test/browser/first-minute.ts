import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Page } from "playwright-core";
import { animatedWebp, type Frame } from "../support/clients/animated-webp.ts";
import { allFindings, startBrowser } from "../support/clients/browser.ts";
import { RunningInstance } from "../support/processes/instance.ts";

/**
 * The first minute of `npm start` in the console, as a moving picture and as pictures of what it comes to:
 * `npm run pictures [-- FOLDER]`, lib/docs/pictures unless given. The README shows them.
 */
const SIZE = { width: 1240, height: 1000 } as const;
const QUALITY = 70;
const MOST_BYTES = 1_500_000;

const folder = resolve(process.argv[2] ?? "lib/docs/pictures");
mkdirSync(folder, { recursive: true });
const bridge = new RunningInstance({ live: true });
const [file, browser] = await Promise.all([bridge.start(), startBrowser()]);
try {
  const context = await browser.newContext({ viewport: SIZE, colorScheme: "light", locale: "en-GB" });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  const picture = async (quality = QUALITY): Promise<Buffer> => {
    const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality });
    return Buffer.from(data, "base64");
  };
  const frames: Frame[] = [];
  const show = async (milliseconds: number) => frames.push({ picture: await picture(), milliseconds });

  await page.goto(`${file.base_url}/#/sign-in?workspace=${file.workspace_id}&token=${file.api_token}`);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const hasConflict = async () => (await bridge.api("GET", "/monitoring/conflicts")).body.meta?.total !== 0;
  for (let shown = 0; shown < 60 && !(shown > 20 && (await hasConflict())); shown += 1) {
    await drawn(page);
    if (shown % 2 === 0) await show(500);
    await pause(1000);
  }
  await show(1500);
  const visits = [
    ["failed", "/activity/failed"],
    ["conflicts", "/activity/conflicts"],
    ["row", "/rows/contact?key=1"],
    ["overview", "/"],
  ] as const;
  const sizes: Record<string, number> = {};
  const keep = (name: string, content: Buffer) => {
    writeFileSync(join(folder, `${name}.webp`), content);
    sizes[name] = content.length;
  };
  for (const [name, place] of visits) {
    await page.goto(`${file.base_url}/#${place}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.getByText("Loading", { exact: true }).first().waitFor({ state: "detached" });
    await drawn(page);
    const found = await allFindings(page);
    if (found.length > 0) throw new Error(`axe finds on ${place}: ${found.join("\n")}`);
    await show(2500);
    keep(name, await picture(85));
  }
  keep("first-minute", animatedWebp(frames, SIZE));
  console.log(`${frames.length} frames; bytes: ${JSON.stringify(sizes)} in ${folder}`);
  const bytes = Object.values(sizes).reduce((sum, size) => sum + size, 0);
  if (bytes > MOST_BYTES)
    throw new Error(`${bytes} bytes of pictures are more than ${MOST_BYTES}: lower QUALITY or SIZE`);
} finally {
  await browser.close();
  await bridge.destroy();
}

/** Once charts and letters are there, and nothing moves any more. */
async function drawn(page: Page): Promise<void> {
  for (const room of await page.locator(".chart-room").all()) await room.locator("canvas").first().waitFor();
  await page.evaluate("document.fonts.ready");
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
}
