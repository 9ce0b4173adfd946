import { Client } from "pg";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { expect, vi } from "vitest";
import { allFindings } from "../support/clients/browser.ts";
import { dataOf } from "../support/clients/data-of.ts";
import type { TestWorkspace } from "../support/worlds/workspace.ts";
import { type ConsoleWorld, goTo, signedIn, startConsoleWorld } from "./world.ts";

/** Far more than anything takes, so that a busy machine fails nothing. */
export const PATIENCE = 60_000;

/** A user before the console, in a workspace of their own, whose clicks are counted. */
export interface User {
  readonly world: ConsoleWorld;
  readonly workspace: TestWorkspace;
  readonly database: Client;
  readonly page: Page;
  /** Another browser, which counts clicks as well. */
  context(): Promise<BrowserContext>;
  /** The `data` of a request below the workspace. */
  ask<Data>(method: string, path: string, body?: unknown): Promise<Data>;
  /** Goes to a place; clicks are counted from there. */
  begin(path: string): Promise<void>;
  click(target: Locator): Promise<void>;
  button(name: string | RegExp): Locator;
  link(name: string | RegExp): Locator;
  sees(text: string | RegExp): Promise<void>;
  /** Presses of the pointer since `begin`, and choices in a list: what the page itself has noticed. */
  clicks(): Promise<number>;
  /** Fails where axe finds something, or a list or the page is cut, at any of three widths. */
  hasNoFindings(): Promise<void>;
  /** Waits until no change of a row waits. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** A signed-in user of a new workspace, whose schema has its name. */
export async function startUser(name: string): Promise<User> {
  const world = await startConsoleWorld();
  const workspace = await world.bridge.createWorkspace(name);
  const database = new Client({ connectionString: world.bridge.database.url });
  await database.connect();
  const context = async () => {
    const made = await world.browser.newContext({ viewport: { width: 1440, height: 900 } });
    made.setDefaultTimeout(PATIENCE);
    await made.addInitScript(COUNT_CLICKS);
    return made;
  };
  const page = await signedIn(await context(), world, workspace);
  const clicks = async () => Number(await page.evaluate("sessionStorage.getItem('clicks')"));
  return {
    ...{ world, workspace, database, context, page, clicks },
    ask: async (method, path, body) => {
      const request = { token: workspace.token, ...(body !== undefined && { body }) };
      return dataOf(await world.bridge.request(method, `/api/v1/t/${workspace.id}${path}`, request));
    },
    begin: async (path) => {
      await goTo(page, world, path);
      await page.evaluate("sessionStorage.setItem('clicks', 0)");
    },
    click: (target) => target.first().click(),
    button: (named) => page.getByRole("button", { name: named }),
    link: (named) => page.getByRole("link", { name: named }),
    sees: (text) => page.getByText(text).first().waitFor(),
    hasNoFindings: async () => {
      const before = page.viewportSize();
      for (const width of [1440, 1024, 360]) {
        await page.setViewportSize({ width, height: 900 });
        expect([width, await allFindings(page)]).toEqual([width, []]);
        expect([width, await page.evaluate(WIDE)]).toEqual([width, []]);
      }
      if (before) await page.setViewportSize(before);
    },
    settled: () =>
      vi.waitFor(async () => {
        const waiting = await database.query(`SELECT FROM ${name}._trigger_log WHERE processed_at IS NULL`);
        expect(waiting.rowCount).toBe(0);
      }, PATIENCE),
    close: async () => {
      await database.end();
      await world.close();
    },
  };
}

/** In a list of the system the pointer chooses as well, which the page does not see. */
const COUNT_CLICKS = `
  const count = () => sessionStorage.setItem("clicks", Number(sessionStorage.getItem("clicks")) + 1);
  addEventListener("pointerdown", (event) => event.isTrusted && count(), true);
  addEventListener("change", (event) => event.target.matches("select") && count(), true);
`;

const WIDE =
  "[document.documentElement, ...document.querySelectorAll('.list')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent.slice(0, 80))";
