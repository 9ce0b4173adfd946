import type { Page } from "playwright-core";
import { beforeEach, expect, test, vi } from "vitest";
import { PLACES } from "./places.ts";
import { consoleUser, goTo, inBrowser, PATIENCE, signedIn } from "./world.ts";

/** Every page, those of unknown ids, and unknown ones. */
const ALL_PLACES = [...PLACES, "/mappings/map_none", "/mappings/map_none/edit", "/activity/1", "/webhooks/whk_none"];

const API = "**/api/v1/**";

const FAILURE = { success: false, error: { code: "INTERNAL_ERROR", message: "something failed" } };

/** How the API can fail a page. */
const CUTS: Readonly<Record<string, Parameters<Page["route"]>[1]>> = {
  cut: (route) => route.abort(),
  "answering 500": (route) => route.fulfill({ status: 500, json: FAILURE }),
  silent: () => undefined,
  "answering with a proxy's page": (route) =>
    route.fulfill({ status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" }),
};

inBrowser("when things break, the console", () => {
  const user = consoleUser("truth");
  const { world } = user;
  let page: Page;
  beforeEach(async () => {
    const context = await world.browser.newContext({ viewport: { width: 1280, height: 900 } });
    page = await signedIn(context, world, user.workspace);
    return () => context.close();
  });

  test.each(Object.entries(CUTS))(
    "keeps its places and says what is wrong on every page, with the API %s",
    async (_, fails) => {
      await page.clock.install();
      const pages: unknown[] = [];
      for (const place of ALL_PLACES) {
        await page.unrouteAll();
        await page.goto("about:blank");
        await page.route(API, fails);
        await goTo(page, world, place);
        await page.getByRole("heading", { level: 1 }).waitFor();
        const says = page.getByRole("alert").or(page.getByText("The org's objects could not be read"));
        const isAsking = !["/configuration/import", "/webhooks/new"].includes(place);
        const found = async () => ({
          ...{ place, says: !isAsking || (await says.count()) > 0 },
          loading: await page.getByText("Loading", { exact: true }).count(),
        });
        const isDone = async () => {
          await page.clock.runFor(15_000); // the attempts that follow the first
          expect(await found()).toEqual({ place, says: true, loading: 0 });
        };
        await vi.waitFor(isDone, { timeout: PATIENCE }).catch(() => undefined);
        pages.push({ ...(await found()), leads: await page.getByRole("link", { name: "Mappings" }).count() });
      }

      expect(pages).toEqual(ALL_PLACES.map((place) => ({ place, says: true, loading: 0, leads: 1 })));
    },
  );

  test("says since when its figures are old, takes their colours, and gives them back with the next answer", async () => {
    const bar = page.getByText("What this page shows is from");
    const colours = (): Promise<string[]> =>
      page.evaluate(
        "[...document.querySelectorAll('main .badge')].map((one) => getComputedStyle(one).backgroundColor)",
      );
    await page.locator("main .badge").first().waitFor();
    const fresh = await colours();

    await page.context().setOffline(true);
    await bar.waitFor({ timeout: 60_000 });
    await page.getByText("The service did not answer").first().waitFor();
    const old = await colours();
    await page.context().setOffline(false);
    await page.getByRole("button", { name: "Try again" }).first().click();
    await bar.waitFor({ state: "detached" });

    expect(new Set(old).size).toBe(1);
    expect(await colours()).toEqual(fresh);
    expect(old).not.toEqual(fresh);
  });

  test("names a page that is not there, also by an address that is no text, or that fails, and continues elsewhere", async () => {
    const heading = (name: string) => page.getByRole("heading", { name, exact: true }).waitFor();
    await goTo(page, world, "/mappings/%zz");
    await heading("Not here");
    await page.route("**/monitoring/activity**", (route) => route.fulfill({ json: { success: true, data: [null] } }));
    await goTo(page, world, "/activity");
    await heading("This page failed");

    await page.getByRole("link", { name: "Mappings" }).click();
    await heading("Mappings");
  });

  test("is loaded again once when the code of a page is gone, and says so when it stays gone or nothing loads", async () => {
    let loads = 0;
    page.on("load", () => (loads += 1));
    await page.route("**/assets/tokens-*.js", (route) => route.fulfill({ status: 404, json: {} }), { times: 1 });
    await page.getByRole("link", { name: "Tokens" }).click();
    await page.getByRole("button", { name: "New token" }).waitFor();
    expect(loads).toBe(1);

    await page.route("**/assets/audit-log-*.js", (route) => route.fulfill({ status: 404, json: {} }));
    await page.getByRole("link", { name: "Audit log" }).click();
    await page.getByText("The code of this page is missing").waitFor();
    await page.route("**/*", (route) => route.abort());
    await page.getByRole("link", { name: "Webhooks" }).click();
    await page.getByText("The code of this page did not load").waitFor();
    expect(loads).toBe(1);
  });

  test.each(["/", "/mappings", "/activity", "/webhooks", "/tokens"])(
    "asks at most 15 times a minute on %s when it is untouched, and again at once when it is touched",
    async (place) => {
      await page.goto("about:blank");
      await page.clock.install();
      let asked = 0;
      const open = new Set<unknown>();
      page.on("request", (request) => {
        asked += 1;
        open.add(request);
      });
      page.on("requestfinished", (request) => open.delete(request));
      page.on("requestfailed", (request) => open.delete(request));
      await goTo(page, world, place);
      await page.getByRole("heading", { level: 1 }).waitFor();
      const pass = async (seconds: number) => {
        asked = 0;
        for (let second = 0; second < seconds; second += 1) {
          await page.clock.runFor(1000);
          await vi.waitFor(() => expect(open.size).toBe(0), PATIENCE);
        }
        return asked;
      };
      await pass(80);

      const idle = await pass(60);
      await page.mouse.move(400, 400);
      await vi.waitFor(() => expect(asked).toBeGreaterThan(idle), PATIENCE);

      expect(idle).toBeLessThanOrEqual(15);
      expect(idle).toBeGreaterThan(0);
    },
  );
});
