import { Client } from "pg";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, vi } from "vitest";
import { allFindings, findChromium, sayWithoutChromium, startBrowser } from "../support/clients/browser.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { type Receiver, startReceiver } from "../support/doubles/receiver.ts";
import { type RunningBridge, startRunningBridge } from "../support/worlds/running-bridge.ts";
import type { TestWorkspace } from "../support/worlds/workspace.ts";

/** Far more than anything takes, so that a busy machine fails nothing. */
export const PATIENCE = 60_000;

/** The service with everything around it, and a browser before it. */
export interface ConsoleWorld {
  readonly bridge: RunningBridge;
  readonly browser: Browser;
  readonly receiver: Receiver;
  close(): Promise<void>;
}

/** A user before the console, in a workspace of their own, whose clicks are counted. */
export type User = ReturnType<typeof consoleUser>;

/** Tests in a browser; without one they are skipped, and it is said. */
export function inBrowser(name: string, tests: () => void): void {
  sayWithoutChromium();
  describe.skipIf(findChromium() === undefined)(name, tests);
}

/** A world for the tests of a file; `hosts` are names that lead to it. */
export function consoleWorld(hosts: readonly string[] = []): ConsoleWorld {
  const world = {} as ConsoleWorld;
  beforeAll(async () => {
    const started = await Promise.all([startRunningBridge(), startBrowser(hosts), startReceiver(200)]);
    const [bridge, browser, receiver] = started;
    Object.assign(world, { bridge, browser, receiver });
  });
  afterAll(async () => {
    await world.browser?.close();
    await world.receiver?.close();
    await world.bridge?.close();
  });
  return world;
}

/** A page of a user who is signed in, as the sign-in itself leaves it. */
export async function signedIn(
  context: BrowserContext,
  { bridge }: ConsoleWorld,
  workspace: Pick<TestWorkspace, "id" | "token">,
): Promise<Page> {
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  await page.goto(`${bridge.baseUrl}/#/sign-in?workspace=${workspace.id}&token=${workspace.token}`);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  return page;
}

/** Goes to a place of the console. */
export async function goTo(page: Page, { bridge }: ConsoleWorld, path: string): Promise<void> {
  await page.goto(`${bridge.baseUrl}/#${path}`);
}

/** Goes to a place, and waits until it has loaded what it shows. */
export async function show(page: Page, world: ConsoleWorld, place: string): Promise<void> {
  await goTo(page, world, place);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.getByText("Loading", { exact: true }).first().waitFor({ state: "detached" });
}

/** Fails where axe finds something, or a list or the page has to be scrolled sideways, at any of three widths. */
export async function hasNoFindings(page: Page, widths: readonly number[] = [1440, 1024, 360]): Promise<void> {
  const before = page.viewportSize();
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    expect([page.url(), width, await allFindings(page), await page.evaluate(WIDE)]).toEqual([
      page.url(),
      width,
      [],
      [],
    ]);
  }
  if (before) await page.setViewportSize(before);
}

/** A signed-in user of a new workspace, whose schema has its name, for the tests of a file. */
export function consoleUser(name: string, make?: () => Promise<TestWorkspace>) {
  const world = consoleWorld();
  let workspace: TestWorkspace;
  let database: Client;
  let page: Page;
  beforeAll(async () => {
    workspace = await (make?.() ?? world.bridge.createWorkspace(name));
    database = new Client({ connectionString: world.bridge.database.url });
    await database.connect();
    page = await (make ? (await context()).newPage() : signedIn(await context(), world, workspace));
  });
  afterAll(() => database?.end());

  /** Another browser, which counts clicks as well. */
  const context = async (): Promise<BrowserContext> => {
    const made = await world.browser.newContext({ viewport: { width: 1440, height: 900 } });
    made.setDefaultTimeout(PATIENCE);
    await made.addInitScript(COUNT_CLICKS);
    return made;
  };
  /** The `data` of a request below the workspace. */
  const ask = async <Data>(method: string, path: string, body?: unknown): Promise<Data> => {
    const request = { token: workspace.token, ...(body !== undefined && { body }) };
    return dataOf(await world.bridge.request(method, `/api/v1/t/${workspace.id}${path}`, request));
  };
  const sql = async (text: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    (await database.query(text)).rows;
  const runs = (object: string) =>
    vi.waitFor(async () => {
      const all = await ask<{ sf_object: string; state: string }[]>("GET", "/monitoring/mappings");
      expect(all.find(({ sf_object }) => sf_object === object)?.state).toBe("running");
    }, PATIENCE);

  return {
    ...{ world, context, ask, sql, runs },
    get workspace(): TestWorkspace {
      return workspace;
    },
    get page(): Page {
      return page;
    },
    /** Goes to a place; clicks are counted from there. */
    begin: async (path: string) => {
      await goTo(page, world, path);
      await page.evaluate("sessionStorage.setItem('clicks', 0)");
    },
    /** Presses of the pointer since then, and choices in a list: what the page itself has noticed. */
    clicks: async () => Number(await page.evaluate("sessionStorage.getItem('clicks')")),
    click: (target: Locator) => target.first().click(),
    button: (named: string | RegExp) => page.getByRole("button", { name: named }),
    link: (named: string | RegExp) => page.getByRole("link", { name: named }),
    label: (text: string | RegExp) => page.getByLabel(text, typeof text === "string" ? { exact: true } : {}),
    sees: (text: string | RegExp) => page.getByText(text).first().waitFor(),
    /** Finds something by Ctrl-K, without a click, and takes the first of what is found. */
    find: async (text: string, entry: RegExp) => {
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.keyboard.press("Control+k");
      await page.locator("[aria-label^='Find a row']:focus").waitFor();
      await page.keyboard.type(text);
      await page.getByRole("option", { name: entry }).first().waitFor();
      await page.keyboard.press("Enter");
    },
    hasNoFindings: () => hasNoFindings(page),
    /** Makes a mapping and waits until it runs; answers its id. */
    maps: async (mapping: { readonly sf_object: string } & Readonly<Record<string, unknown>>) => {
      const { id } = await ask<{ id: string }>("POST", "/mappings", mapping);
      await runs(mapping.sf_object);
      return id;
    },
    /** Waits until no change of a row waits. */
    settled: () =>
      vi.waitFor(async () => {
        expect(await sql(`SELECT id FROM ${name}._trigger_log WHERE processed_at IS NULL`)).toEqual([]);
      }, PATIENCE),
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
