import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { findChromium, sayWithoutChromium, startBrowser } from "../support/clients/browser.ts";
import { type RunningBridge, startRunningBridge } from "../support/worlds/running-bridge.ts";
import type { TestWorkspace } from "../support/worlds/workspace.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 300_000 });

const HOST = "bridge.test";

sayWithoutChromium();

/** The attack's part for links: an attacker sends one that opens a workspace of the sender's. */
describe.skipIf(findChromium() === undefined)(
  "at an address that is not this machine's own, a link that signs in",
  () => {
    let bridge: RunningBridge;
    let browser: Browser;
    let mine: TestWorkspace;
    let theirs: TestWorkspace;
    let page: Page;

    beforeAll(async () => {
      [bridge, browser] = await Promise.all([startRunningBridge(), startBrowser([HOST])]);
      [mine, theirs] = [await bridge.createWorkspace("mine"), await bridge.createWorkspace("theirs")];
    });
    beforeEach(async () => {
      const context = await browser.newContext();
      page = await context.newPage();
      return () => context.close();
    });
    afterAll(async () => {
      await browser.close();
      await bridge.close();
    });

    const home = () => `${bridge.baseUrl.replace("127.0.0.1", HOST)}/`;
    const linkTo = ({ id, token }: Pick<TestWorkspace, "id" | "token">, base = home()) =>
      `${base}#/sign-in?workspace=${id}&token=${token}`;
    const kept = () => page.evaluate("JSON.stringify([{ ...sessionStorage }, { ...localStorage }])") as Promise<string>;
    const button = (name: string | RegExp) => page.getByRole("button", { name });
    const heading = (name: string) => page.getByRole("heading", { name }).waitFor();

    test("asks first, with the workspace's name, and its token is in no address and no step back", async () => {
      await page.goto(home());
      await page.goto(linkTo(theirs));

      await page.getByText(`This link opens Test (${theirs.id})`).waitFor();
      expect(page.url()).not.toContain("token");
      expect(await kept()).toBe("[{},{}]");
      await page.goBack();
      expect(page.url()).not.toContain("token");
    });

    test("opens nothing when it is declined", async () => {
      await page.goto(linkTo(theirs));
      await button("Do not sign in").click();

      await heading("Sign in to Bridge");
      expect(await page.getByLabel("Workspace").inputValue()).toBe("");
      expect(await page.getByLabel("API token").inputValue()).toBe("");
      expect(await kept()).toBe("[{},{}]");
      await page.reload();
      await heading("Sign in to Bridge");
    });

    test("opens its workspace when the user agrees", async () => {
      await page.goto(linkTo(theirs));
      await button(`Sign in to ${theirs.id}`).click();

      await heading("Overview");
      expect(await page.locator(".who-name").first().getAttribute("title")).toBe(theirs.id);
    });

    test.each([
      ["of another workspace", () => theirs],
      ["of the same workspace by another token", async () => ({ id: mine.id, token: await mine.tokenWith(["read"]) })],
    ])("leaves the session as it was when it is declined: a link %s", async (_, link) => {
      await page.goto(home());
      await page.getByLabel("Workspace").fill(mine.id);
      await page.getByLabel("API token").fill(mine.token);
      await button("Sign in").click();
      await heading("Overview");
      const before = await kept();

      await page.goto(linkTo(await link()));
      await button(`Stay in ${mine.id}`).click();
      await heading("Overview");

      expect(await kept()).toBe(before);
      expect(page.url()).not.toContain("token");
    });

    test("with a token that opens nothing says so, and has nothing to agree to", async () => {
      await page.goto(linkTo({ id: theirs.id, token: "brg_a_mistake" }));

      await page.getByText("This token is not valid").waitFor();
      expect(await button(/^Sign in/).count()).toBe(0);
      await button("Do not sign in").click();
      await heading("Sign in to Bridge");
    });

    test("still signs in at once where npm start prints it: at this machine's own address", async () => {
      await page.goto(linkTo(theirs, `${bridge.baseUrl}/`));

      await heading("Overview");
      expect(page.url()).not.toContain("token");
    });
  },
);
