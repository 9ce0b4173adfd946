import { Client } from "pg";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { complaintsOf, findChromium, sayWithoutChromium } from "../support/clients/browser.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";
import { type ConsoleWorld, goTo, signedIn, startConsoleWorld } from "./world.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 300_000 });

/** Far more than it takes, so that a busy machine fails nothing. */
const PATIENCE = 300_000;

const OPPORTUNITY = {
  version: 1,
  mappings: [
    {
      object_name: "Opportunity",
      config: { access: "read_only", sf_polling_seconds: 600, fields: { Name: {}, StageName: {} } },
    },
  ],
};

sayWithoutChromium();

describe.skipIf(findChromium() === undefined)("in a browser, a user", () => {
  let world: ConsoleWorld;
  let workspace: TestWorkspace;
  let database: Client;
  let page: Page;
  let complaints: readonly string[];

  beforeAll(async () => {
    world = await startConsoleWorld();
    workspace = await createTestWorkspace();
    database = new Client({ connectionString: world.bridge.database.url });
    await database.connect();
    const context = await world.browser.newContext({ viewport: { width: 1280, height: 900 } });
    context.setDefaultTimeout(PATIENCE);
    complaints = complaintsOf(context);
    page = await context.newPage();
  });
  afterAll(async () => {
    await database.end();
    await world.close();
  });

  const button = (name: string | RegExp) => page.getByRole("button", { name });
  const link = (name: string | RegExp) => page.getByRole("link", { name });
  const heading = (name: string | RegExp) => page.getByRole("heading", { name });
  const sees = (text: string | RegExp) => page.getByText(text).first().waitFor();

  test("comes with a token and an empty workspace, and sees the first row arrive in Salesforce", async () => {
    await page.goto(`${world.bridge.baseUrl}/#/sign-in?workspace=${workspace.id}&token=brg_a_mistake`);
    await sees("This token is not valid");
    await page.goto(`${world.bridge.baseUrl}/#/`);
    await page.getByLabel("Workspace").fill(workspace.id);
    await page.getByLabel("API token").fill(workspace.token);
    await button("Sign in").click();
    await link("To the connections").click();

    await page.getByLabel("Database URL").fill(world.bridge.database.url);
    await page.getByLabel("Schema").fill("console");
    await button("Connect database").click();
    await sees("The database is connected");

    const { loginUrl, credentials } = world.bridge.org.connection;
    if (credentials.kind !== "password") throw new Error("the local org is connected by password");
    await page.getByLabel("How to sign in").selectOption("password");
    await page.getByLabel("Login URL").fill(loginUrl);
    await page.getByLabel("Consumer key").fill(credentials.clientId);
    await page.getByLabel("Consumer secret").fill(credentials.clientSecret);
    await page.getByLabel("User name").fill(credentials.username);
    await page.getByLabel("Password", { exact: true }).fill(credentials.password);
    await button("Connect org").click();
    await sees("The org is connected");

    await link("Overview").first().click();
    await link("New mapping").click();
    await page.getByLabel("Object", { exact: true }).fill("Contact");
    await page
      .getByRole("option", { name: /^Contact/ })
      .first()
      .click();
    await page
      .getByRole("checkbox", { name: /^Email Email|^Email/ })
      .first()
      .check();
    await button("Create mapping").click();
    await heading("Contact").waitFor();
    await page.getByText("running", { exact: true }).first().waitFor();

    await database.query("INSERT INTO console.contact (lastname, email) VALUES ('Lovelace', 'ada@example.com')");
    await link("Activity").first().click();
    await page.getByRole("cell", { name: "SUCCESS" }).first().waitFor();
    await link(/insert contact/)
      .first()
      .click();
    await sees("Lovelace");
    const { rows } = await database.query("SELECT sfid FROM console.contact");

    await sees(String(rows[0]?.sfid));
    expect(rows[0]?.sfid).toMatch(/^003/);
  });

  test("sees how the cycles of the last hour ended, and how many rows went each way", async () => {
    await goTo(page, world, "/");
    await page.getByRole("img", { name: /^Cycles: [1-9]\d* went well, 0 failed$/ }).waitFor();
    await page
      .getByRole("img", { name: /^1 rows accepted, 0 rows rejected, \d+ rows written here in the last hour$/ })
      .waitFor();
    await page.locator(".chart").hover({ position: { x: 200, y: 60 } });
    await sees(/\d rows accepted/);

    await page.getByLabel("Direction").selectOption("From Salesforce");
    await page.getByRole("img", { name: /^\d+ rows written here in the last hour$/ }).waitFor();
    await page.reload();

    await page.getByRole("img", { name: /^\d+ rows written here in the last hour$/ }).waitFor();
    expect(page.url()).toContain("way=from");
    expect(await page.getByText(/^\d+ accepted$/).count()).toBe(0);
  });

  test("connects the org again by signing in there with the browser, and comes back", async () => {
    const { loginUrl, credentials } = world.bridge.org.connection;
    if (!("clientSecret" in credentials)) throw new Error("the local org is connected by an app with a secret");
    await goTo(page, world, "/connections");
    await button("Connect another org").click();
    await page.getByLabel("Login URL").fill(loginUrl);
    await page.getByLabel("Consumer key").fill(credentials.clientId);
    await page.getByLabel("Consumer secret").fill(credentials.clientSecret ?? "");
    await button("Continue at Salesforce").click();
    await sees("The org is connected.");
    await link("To the connections").click();

    await sees("refresh token");
    await button("Check").last().click();

    await page.getByLabel("in order", { exact: true }).first().waitFor();
    expect(await page.getByLabel("not in order").count()).toBe(0);
    expect(page.url()).not.toContain("code=");
  });

  test("finds a failed row, understands it and retries it", async () => {
    await database.query("INSERT INTO console.contact (lastname, email) VALUES ('Hopper', 'no address')");
    await goTo(page, world, "/");
    await sees("Salesforce refused 1 row of Contact");
    await link("See why").click();
    await sees("Salesforce rejects this e-mail address");
    await button("Show rows").click();
    await link("Hopper").click();
    await sees("no address");
    // What an administrator of the org might do by loosening a rule.
    await database.query(
      `UPDATE console._trigger_log SET "values" = jsonb_set("values", '{email}', '"grace@example.com"') WHERE state = 'FAILED'`,
    );

    await button("Retry").click();

    await sees("1 row waits again");
    await page.getByText("SUCCESS", { exact: true }).waitFor();
    await goTo(page, world, "/activity/failed");
    await sees("No failed rows");
  });

  test("makes a webhook, sees a test arrive, one fail, and that one delivered after all", async () => {
    const status = (name: string) => page.getByRole("cell", { name, exact: true });
    await goTo(page, world, "/webhooks");
    await link("New webhook").click();
    await page.getByLabel("URL").fill(`${world.receiver.url}/bridge`);
    await button("Create webhook").click();
    await sees(/^whsec_/);
    await link("I have kept it").click();
    await button("Send a test").click();
    await status("successful").waitFor();

    world.receiver.answer({ status: 500, body: "the pager is out of paper" });
    await button("Send a test").click();
    await status("failed").first().waitFor();
    await page
      .getByRole("row", { name: /failed/ })
      .getByRole("button")
      .first()
      .click();
    await sees("the pager is out of paper");
    await button("Close").click();

    world.receiver.answer(200);
    await page
      .getByRole("row", { name: /failed/ })
      .getByRole("button", { name: /^Retry/ })
      .click();

    await status("failed").first().waitFor({ state: "detached" });
    expect(await status("successful").count()).toBe(2);
    expect(world.receiver.received).toHaveLength(3);
  });

  test("imports a configuration after seeing its plan, and sees what differs from the pinned one", async () => {
    await goTo(page, world, "/configuration/drift");
    await button("Pin the configuration").click();
    await sees("No differences from the pinned configuration");
    await link("Import").click();
    await page.getByLabel("Or its text").fill(JSON.stringify(OPPORTUNITY));
    await button("Show the plan").click();
    await sees("+ StageName");
    const unchanged = await database.query("SELECT to_regclass('console.opportunity') AS found");

    await button("Import").click();

    await link("Opportunity").waitFor();
    expect(unchanged.rows).toEqual([{ found: null }]);
    await goTo(page, world, "/configuration/drift");
    await sees("+ the mapping was created");
    await goTo(page, world, "/audit-log?action=config.imported");
    await sees("owner@example.com");
  });

  test("makes a token that may only look, sees what it may, and revokes it", async () => {
    await goTo(page, world, "/tokens");
    await button("New token").click();
    await page.getByLabel("Name").fill("Wallboard");
    await button("Create token").click();
    const token = (await page.getByText(/^brg_r/).textContent()) ?? "";
    await button("I have kept it").click();

    const other = await signedIn(await world.browser.newContext(), world, { id: workspace.id, token });
    await goTo(other, world, "/connections");
    await other.getByText("Connections need a token with the scope admin").waitFor();
    await goTo(other, world, "/webhooks");
    await other.getByRole("button", { name: "New webhook" }).waitFor();
    expect(await other.evaluate("localStorage.getItem('bridge.session')")).toBeNull();
    await goTo(other, world, "/activity");
    await other.getByRole("cell", { name: "SUCCESS" }).first().waitFor();

    await button("Revoke Wallboard").click();
    await button("Revoke token").click();

    await sees("Wallboard is revoked");
    await other.getByText("The token is no longer valid").waitFor({ timeout: PATIENCE });
    await other.context().close();
  });

  test("is asked before many deletes go, sees which they are, and lets them go", async () => {
    await database.query("INSERT INTO console.contact (lastname) SELECT 'Many ' || n FROM generate_series(1, 130) n");
    const unsent = "SELECT count(*)::int AS rows FROM console.contact WHERE lastname LIKE 'Many %' AND sfid IS NULL";
    await vi.waitFor(async () => expect((await database.query(unsent)).rows).toEqual([{ rows: 0 }]), PATIENCE);
    await database.query("DELETE FROM console.contact WHERE lastname LIKE 'Many %'");
    await goTo(page, world, "/");
    await link("Release or reject").click();
    await sees("the record in Salesforce");

    await button(/^Release (all|it)/).click();
    await button(/^Release \d+ deletes?/).click();

    await sees(/deletes? released/);
    await page.getByText("on hold").first().waitFor({ state: "detached" });
    const waiting = "SELECT count(*)::int AS rows FROM console._trigger_log WHERE processed_at IS NULL";
    await vi.waitFor(async () => expect((await database.query(waiting)).rows).toEqual([{ rows: 0 }]), PATIENCE);
  });

  test("meets no script that threw and nothing that the policy refused", () => {
    expect(complaints).toEqual([]);
  });
});
