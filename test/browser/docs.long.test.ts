import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { allFindings, findChromium, sayWithoutChromium } from "../support/clients/browser.ts";
import { type ConsoleWorld, startConsoleWorld } from "./world.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 300_000 });

sayWithoutChromium();

describe.skipIf(findChromium() === undefined)("the documentation in a browser", () => {
  let world: ConsoleWorld;

  beforeAll(async () => {
    world = await startConsoleWorld();
  });
  afterAll(() => world.close());

  test("finds a setting by its name and opens the section that describes it, without a token", async () => {
    const { page, refused } = await open("/docs");

    await page.getByRole("searchbox", { name: "Search the documentation" }).fill("sf_polling_sec");
    await page.locator("#search li a").first().click();
    await page.waitForURL(/\/docs\/[\w-]+/);

    expect(await page.locator("main").textContent()).toContain("sf_polling_seconds");
    expect(refused).toEqual([]);
  });

  test("says when nothing is found", async () => {
    const { page } = await open("/docs");

    await page.getByRole("searchbox").fill("zzzzqqqq");

    await page.getByText('No page has "zzzzqqqq".').waitFor();
  });

  test.each(["light", "dark"] as const)(
    "has nothing that axe finds of any grade, broad and narrow, %s",
    async (scheme) => {
      for (const width of [1280, 360]) {
        const { page } = await open("/docs", { scheme, width });
        for (const path of ["/docs", "/docs/security", "/docs/budget"]) {
          await page.goto(`${world.bridge.baseUrl}${path}`);
          expect(await allFindings(page), `${path} at ${width}`).toEqual([]);
        }
      }
    },
  );

  /** A page, and the addresses that it asked for beyond its own origin or without success. */
  async function open(
    path: string,
    { scheme = "light", width = 1280 }: { scheme?: "light" | "dark"; width?: number } = {},
  ): Promise<{ page: Page; refused: string[] }> {
    const context = await world.browser.newContext({ colorScheme: scheme, viewport: { width, height: 800 } });
    const page = await context.newPage();
    const refused: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") refused.push(message.text());
    });
    page.on("response", (response) => {
      if (!response.url().startsWith(world.bridge.baseUrl) || response.status() >= 400) refused.push(response.url());
    });
    await page.goto(`${world.bridge.baseUrl}${path}`);
    return { page, refused };
  }
});
