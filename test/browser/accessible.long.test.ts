import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { allFindings, findChromium, sayWithoutChromium } from "../support/clients/browser.ts";
import { dataOf } from "../support/clients/data-of.ts";
import type { TestWorkspace } from "../support/worlds/workspace.ts";
import { fillWorkspace } from "./places.ts";
import { type ConsoleWorld, goTo, signedIn, startConsoleWorld } from "./world.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 300_000 });

sayWithoutChromium();

describe.skipIf(findChromium() === undefined)("every page of the console", () => {
  let world: ConsoleWorld;
  let workspace: TestWorkspace;
  let places: readonly string[];
  const pages: Partial<Record<"light" | "dark", Page>> = {};

  beforeAll(async () => {
    world = await startConsoleWorld();
    workspace = await world.bridge.createWorkspace("pages");
    const database = new Client({ connectionString: world.bridge.database.url });
    await database.connect();
    places = await fillWorkspace({
      ask: async (method, path, body) =>
        dataOf(
          await world.bridge.request(method, `/api/v1/t/${workspace.id}${path}`, {
            token: workspace.token,
            ...(body !== undefined && { body }),
          }),
        ),
      sql: (text) => database.query(text),
      schema: "pages",
      receiverUrl: world.receiver.url,
    });
    await database.end();
    for (const scheme of ["light", "dark"] as const) {
      const context = await world.browser.newContext({ colorScheme: scheme, viewport: { width: 1280, height: 900 } });
      pages[scheme] = await signedIn(context, world, workspace);
    }
  });
  afterAll(() => world.close());

  test("is among those that are looked at", () => {
    const source = readFileSync(join(import.meta.dirname, "../../lib/console/places.ts"), "utf8");
    const patterns = [...source.matchAll(/^ {2}\["(\/[^"]*)",/gm)].map(([, pattern = ""]) => pattern);
    const isSeen = (pattern: string) => {
      const path = new RegExp(`^${pattern.replace("{id}", "[^/?]+")}(\\?|$)`);
      return places.some((place) => path.test(place) && (pattern.includes("{id}") || place === pattern));
    };

    expect(patterns.length).toBeGreaterThan(20);
    expect(patterns.filter((pattern) => !isSeen(pattern))).toEqual(["/sign-in"]);
  });

  test.each(["light", "dark"] as const)(
    "has nothing that axe finds of any grade at 1440, 1024 and 360 pixels, %s",
    async (scheme) => {
      const page = pages[scheme];
      if (!page) throw new Error("the page was not opened");
      const findings: Record<string, string[]> = {};
      for (const width of [360, 1024, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        for (const place of places) {
          await show(page, place);
          const found = await allFindings(page);
          if (found.length > 0) findings[`${place} ${width}`] = found;
        }
      }

      expect(findings).toEqual({});
    },
  );

  test.each(["light", "dark"] as const)(
    "asks in dialogs that have nothing of it either, broad and narrow, %s",
    async (scheme) => {
      const page = pages[scheme];
      if (!page) throw new Error("the page was not opened");
      const dialog = page.locator("[role=dialog], [role=alertdialog], [role=menu]").last();
      const findings: Record<string, string[]> = {};
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        for (const { place, presses } of dialogs(places)) {
          await show(page, place);
          for (const name of presses)
            if (name === SEARCH || name === KEYS) await page.keyboard.press(name);
            else
              await page
                .getByRole(ROLES[name] ?? "button", { name })
                .first()
                .click();
          await dialog.waitFor();
          const found = await allFindings(page);
          if (found.length > 0) findings[`${place} ${presses.join(", ")} ${width}`] = found;
          await page.keyboard.press("Escape");
          await dialog.waitFor({ state: "detached" });
        }
      }

      expect(findings).toEqual({});
    },
  );

  test.each(["light", "dark"] as const)("has nothing of it before one is signed in either, %s", async (colorScheme) => {
    const page = await (await world.browser.newContext({ colorScheme })).newPage();
    await goTo(page, world, "/");
    await page.getByRole("heading", { name: "Sign in to Bridge" }).waitFor();
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await allFindings(page)).toEqual([]);
    }
    await page.context().close();
  });

  test("fits a phone of 360 pixels without scrolling sideways", async () => {
    const page = await signedIn(
      await world.browser.newContext({ viewport: { width: 360, height: 740 } }),
      world,
      workspace,
    );
    const wide: string[] = [];
    for (const place of places) {
      await show(page, place);
      if ((await page.evaluate("document.documentElement.scrollWidth > innerWidth")) === true) wide.push(place);
    }

    expect(wide).toEqual([]);
  });

  test.each([1024, 360])("shows whole lists at %i pixels", async (width) => {
    const page = await signedIn(await world.browser.newContext({ viewport: { width, height: 768 } }), world, workspace);
    const cut: string[] = [];
    for (const place of places) {
      await show(page, place);
      const lists = "[...document.querySelectorAll('.list')].some((one) => one.scrollWidth > one.clientWidth)";
      if ((await page.evaluate(lists)) === true) cut.push(place);
    }

    expect(cut).toEqual([]);
  });

  test("opens the choices of a field right under it", async () => {
    const page = pages.light;
    if (!page) throw new Error("the page was not opened");
    await show(page, "/mappings/new");
    const field = page.getByLabel("Object", { exact: true });
    await field.fill("Opp");
    const popup = page.locator(".popup");
    await popup.waitFor();

    const [under, above] = [await popup.boundingBox(), await field.boundingBox()];
    expect(under?.x).toBeCloseTo(above?.x ?? 0, 0);
    expect(under?.width).toBeCloseTo(above?.width ?? 0, 0);
    const gap = (under?.y ?? 0) - (above?.y ?? 0) - (above?.height ?? 0);
    expect(gap).toBeGreaterThan(0);
    expect(gap).toBeLessThan(8);
  });

  test("can be reached and used by keyboard alone", async () => {
    const page = pages.light;
    if (!page) throw new Error("the page was not opened");
    await show(page, "/");

    await page.keyboard.press("Shift+Tab"); // from the title, which has the focus, back into the places
    for (let steps = 0; steps < 20 && (await focused(page)) !== "Mappings"; steps += 1)
      await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Mappings", exact: true }).waitFor();
    for (let steps = 0; steps < 10 && (await focused(page)) !== "New mapping"; steps += 1)
      await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByLabel("Object", { exact: true }).focus();
    await page.keyboard.type("Opportunity");
    await page
      .getByRole("option", { name: /^Opportunity/ })
      .first()
      .waitFor();
    await page.keyboard.press("Enter");

    await page.getByRole("checkbox", { name: /^StageName/ }).waitFor();
    expect(await page.getByLabel("Object", { exact: true }).inputValue()).toBe("Opportunity");
  });

  const show = async (page: Page, place: string) => {
    await goTo(page, world, place);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.getByText("Loading", { exact: true }).first().waitFor({ state: "detached" });
  };
});

/** Opened by Ctrl-K. */
const SEARCH = "Control+k";

/** Opened by a question mark. */
const KEYS = "?";

/** Where dialogs open, and what is pressed for it. */
function dialogs(places: readonly string[]): { readonly place: string; readonly presses: readonly string[] }[] {
  const mapping = places.find((place) => /^\/mappings\/map_\w+$/.test(place)) ?? "";
  const webhook = places.find((place) => place.startsWith("/webhooks/whk_")) ?? "";
  return [
    { place: "/mappings", presses: ["Pause all"] },
    { place: "/", presses: [SEARCH] },
    { place: "/", presses: [KEYS] },
    { place: "/tokens", presses: ["New token"] },
    { place: "/tokens", presses: ["Revoke Wallboard"] },
    { place: "/tokens", presses: ["Rotate Wallboard"] },
    { place: "/activity/failed", presses: ["Retry everything"] },
    { place: mapping, presses: ["More"] },
    { place: mapping, presses: ["More", "Read everything again"] },
    { place: mapping, presses: ["More", "Push existing rows"] },
    { place: mapping, presses: ["More", "Delete mapping"] },
    { place: webhook, presses: ["More", "Change"] },
    { place: webhook, presses: ["Rotate the secret"] },
    { place: webhook, presses: ["More", "Delete webhook"] },
    { place: webhook, presses: ["sync.broken"] },
  ];
}

/** What is pressed in a menu; everything else is a button. */
const ROLES: Readonly<Record<string, "menuitem">> = {
  "Read everything again": "menuitem",
  "Push existing rows": "menuitem",
  "Delete mapping": "menuitem",
  Change: "menuitem",
  "Delete webhook": "menuitem",
};

const focused = (page: Page): Promise<unknown> => page.evaluate("document.activeElement?.textContent?.trim()");
