import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { fillWorkspace } from "./places.ts";
import { consoleUser, goTo, hasNoFindings, inBrowser, show, signedIn } from "./world.ts";

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

inBrowser("every page of the console", () => {
  const user = consoleUser("pages");
  let places: readonly string[];
  beforeAll(async () => {
    places = await fillWorkspace(user);
  });

  const withScheme = async (colorScheme: "light" | "dark") =>
    signedIn(await user.world.browser.newContext({ colorScheme }), user.world, user.workspace);

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

  describe.each(["light", "dark"] as const)("%s,", (scheme) => {
    test("has nothing that axe finds of any grade, and no list or page that is cut, on any width", async () => {
      const page = await withScheme(scheme);
      for (const place of places) {
        await show(page, user.world, place);
        await hasNoFindings(page);
      }
      await page.context().close();
    });

    test("asks in dialogs that have nothing of it either, and before one is signed in", async () => {
      const page = await withScheme(scheme);
      const dialog = page.locator("[role=dialog], [role=alertdialog], [role=menu]").last();
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        for (const { place, presses } of dialogs(places)) {
          await show(page, user.world, place);
          for (const [at, name] of presses.entries()) {
            const item = page.getByRole(at > 0 ? "menuitem" : "button", { name });
            await (name === SEARCH || name === KEYS ? page.keyboard.press(name) : item.first().click());
          }
          await dialog.waitFor();
          await hasNoFindings(page, [width]);
          await page.keyboard.press("Escape");
          await dialog.waitFor({ state: "detached" });
        }
      }
      await page.context().close();
      const signedOut = await (await user.world.browser.newContext({ colorScheme: scheme })).newPage();
      await goTo(signedOut, user.world, "/");
      await signedOut.getByRole("heading", { name: "Sign in to Bridge" }).waitFor();
      await hasNoFindings(signedOut);
      await signedOut.context().close();
    });
  });

  test("can be reached and used by keyboard alone", async () => {
    const { label, page, world } = user;
    const focused = (): Promise<unknown> => page.evaluate("document.activeElement?.textContent?.trim()");
    const tabTo = async (name: string, key: string) => {
      for (let steps = 0; steps < 20 && (await focused()) !== name; steps += 1) await page.keyboard.press(key);
      await page.keyboard.press("Enter");
    };
    await show(page, world, "/");

    await page.keyboard.press("Shift+Tab"); // from the title, which has the focus, back into the places
    await tabTo("Mappings", "Shift+Tab");
    await page.getByRole("heading", { name: "Mappings", exact: true }).waitFor();
    await tabTo("New mapping", "Tab");
    await label("Object").focus();
    await page.keyboard.type("Opportunity");
    const option = page.getByRole("option", { name: /^Opportunity/ });
    await option.first().waitFor();
    await page.keyboard.press("Enter");

    await page.getByRole("checkbox", { name: /^StageName/ }).waitFor();
    expect(await label("Object").inputValue()).toBe("Opportunity");
  });
});
