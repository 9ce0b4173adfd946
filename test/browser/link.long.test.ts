import type { Page } from "playwright-core";
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { TestWorkspace } from "../support/worlds/workspace.ts";
import { consoleWorld, inBrowser } from "./world.ts";

const HOST = "bridge.test";

/** The attack's part for links: an attacker sends one that opens a workspace of the sender's. */
inBrowser("at an address that is not this machine's own, a link that signs in", () => {
  const world = consoleWorld([HOST]);
  let mine: TestWorkspace;
  let theirs: TestWorkspace;
  let page: Page;

  beforeAll(async () => {
    [mine, theirs] = [await world.bridge.createWorkspace("mine"), await world.bridge.createWorkspace("theirs")];
  });
  beforeEach(async () => {
    const context = await world.browser.newContext();
    page = await context.newPage();
    return () => context.close();
  });

  const home = () => `${world.bridge.baseUrl.replace("127.0.0.1", HOST)}/`;
  const linkTo = ({ id, token }: Pick<TestWorkspace, "id" | "token">, base = home()) =>
    `${base}#/sign-in?workspace=${id}&token=${token}`;
  const kept = () => page.evaluate("JSON.stringify([{ ...sessionStorage }, { ...localStorage }])") as Promise<string>;
  const button = (name: string | RegExp) => page.getByRole("button", { name });
  const heading = (name: string) => page.getByRole("heading", { name }).waitFor();

  test("asks first, with the workspace's name, and its token is in no address, no step back and no request", async () => {
    const asked: string[] = [];
    page.on("request", (request) => void (request.url().includes(theirs.id) && asked.push(request.url())));
    await page.goto(home());
    await page.goto(linkTo(theirs));

    await page.getByText(`This link opens Test (${theirs.id})`).waitFor();
    expect(page.url()).not.toContain("token");
    expect(asked).toEqual([`${home()}api/v1/t/${theirs.id}`]); // for its name
    expect(await kept()).toBe("[{},{}]");
    await page.goBack();
    expect(page.url()).not.toContain("token");
  });

  test("opens nothing when it is declined, and its workspace when the user agrees", async () => {
    await page.goto(linkTo(theirs));
    await button("Do not sign in").click();

    await heading("Sign in to Bridge");
    for (const name of ["Workspace", "API token"]) expect(await page.getByLabel(name).inputValue()).toBe("");
    expect(await kept()).toBe("[{},{}]");
    await page.reload();
    await heading("Sign in to Bridge");

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
    expect(page.url()).not.toContain("token");
    expect(await button(/^Sign in/).count()).toBe(0);
    await button("Do not sign in").click();
    await heading("Sign in to Bridge");
  });

  test("still signs in at once where npm start prints it: at this machine's own address", async () => {
    await page.goto(linkTo(theirs, `${world.bridge.baseUrl}/`));

    await heading("Overview");
    expect(page.url()).not.toContain("token");
  });
});
