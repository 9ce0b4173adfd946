import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { consoleWorld, hasNoFindings, inBrowser } from "./world.ts";

inBrowser("the documentation in a browser", () => {
  const world = consoleWorld();

  test("finds a setting by its name and opens the section that describes it, without a token", async () => {
    const { page, refused } = await open("light");
    const search = page.getByRole("searchbox", { name: "Search the documentation" });

    await search.fill("zzzzqqqq");
    await page.getByText('No page has "zzzzqqqq".').waitFor();
    await search.fill("sf_polling_sec");
    await page.locator("#search li a").first().click();
    await page.waitForURL(/\/docs\/[\w-]+/);

    expect(await page.locator("main").textContent()).toContain("sf_polling_seconds");
    expect(refused).toEqual([]);
  });

  test.each(["light", "dark"] as const)("has nothing that axe finds of any grade, on any width, %s", async (scheme) => {
    const { page } = await open(scheme);
    for (const path of ["/docs", "/docs/security", "/docs/budget"]) {
      await page.goto(`${world.bridge.baseUrl}${path}`);
      await hasNoFindings(page);
    }
  });

  /** The first page, and the addresses that it asked for beyond its own origin or without success. */
  async function open(colorScheme: "light" | "dark"): Promise<{ page: Page; refused: string[] }> {
    const page = await (await world.browser.newContext({ colorScheme })).newPage();
    const refused: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") refused.push(message.text());
    });
    page.on("response", (response) => {
      if (!response.url().startsWith(world.bridge.baseUrl) || response.status() >= 400) refused.push(response.url());
    });
    await page.goto(`${world.bridge.baseUrl}/docs`);
    return { page, refused };
  }
});
