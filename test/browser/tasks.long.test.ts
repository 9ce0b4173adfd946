import { Client } from "pg";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { findChromium, sayWithoutChromium } from "../support/clients/browser.ts";
import { dataOf } from "../support/clients/data-of.ts";
import type { TestWorkspace } from "../support/worlds/workspace.ts";
import { type ConsoleWorld, goTo, signedIn, startConsoleWorld } from "./world.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 300_000 });

/** Far more than it takes, so that a busy machine fails nothing. */
const PATIENCE = 200_000;

sayWithoutChromium();

describe.skipIf(findChromium() === undefined)("in few clicks, somebody", () => {
  let world: ConsoleWorld;
  let workspace: TestWorkspace;
  let database: Client;
  let page: Page;
  let clicks: number;

  beforeAll(async () => {
    world = await startConsoleWorld();
    workspace = await world.bridge.createWorkspace("tasks");
    database = new Client({ connectionString: world.bridge.database.url });
    await database.connect();
    const context = await world.browser.newContext({ viewport: { width: 1280, height: 900 } });
    context.setDefaultTimeout(PATIENCE);
    page = await signedIn(context, world, workspace);
  });
  beforeEach(async () => {
    clicks = 0;
    await goTo(page, world, "/");
  });
  afterAll(async () => {
    await database.end();
    await world.close();
  });

  const click = (target: Locator) => {
    clicks += 1;
    return target.first().click();
  };
  const button = (name: string | RegExp) => page.getByRole("button", { name });
  const link = (name: string | RegExp) => page.getByRole("link", { name });
  const sees = (text: string | RegExp) => page.getByText(text).first().waitFor();
  const ask = async <Data>(method: string, path: string, body?: unknown): Promise<Data> => {
    const request = { token: workspace.token, ...(body !== undefined && { body }) };
    return dataOf(await world.bridge.request(method, `/api/v1/t/${workspace.id}${path}`, request));
  };

  test("rotates a token, and cannot leave the step that shows it by Escape or a click outside", async () => {
    await ask("POST", "/tokens", { name: "worker", owner: "ada@example.com", scopes: ["operate"] });
    await click(link("Tokens"));
    await click(button("Rotate worker"));
    await click(button("Make the new token"));
    const token = (await page.getByText(/^brg_o/).textContent()) ?? "";

    await page.keyboard.press("Escape");
    await page.mouse.click(5, 5);
    expect(await page.getByText(token).count()).toBe(1);
    expect(await page.getByRole("dialog").getByRole("button", { name: "Close" }).count()).toBe(0);
    await click(button("I have kept it"));

    await sees("worker is rotated");
    expect(clicks).toBeLessThanOrEqual(4);
    const tokens = await ask<{ name: string; state: string; valid_until: string | null }[]>("GET", "/tokens");
    const workers = tokens.filter(({ name }) => name === "worker");
    expect(workers.map(({ state, valid_until }) => [state, valid_until === null])).toEqual([
      ["valid", true],
      ["valid", false],
    ]);
  });
});
