import { Client } from "pg";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { allFindings, findChromium, sayWithoutChromium } from "../support/clients/browser.ts";
import { dataOf } from "../support/clients/data-of.ts";
import type { TestWorkspace } from "../support/worlds/workspace.ts";
import { type ConsoleWorld, goTo, signedIn, startConsoleWorld } from "./world.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 300_000 });

/** Far more than it takes, so that a busy machine fails nothing. */
const PATIENCE = 90_000;

sayWithoutChromium();

describe.skipIf(findChromium() === undefined)("among the rows, a user", () => {
  let world: ConsoleWorld;
  let workspace: TestWorkspace;
  let database: Client;
  let page: Page;
  let mappingId: string;
  let clicks: number;

  beforeAll(async () => {
    world = await startConsoleWorld();
    workspace = await world.bridge.createWorkspace("rows");
    database = new Client({ connectionString: world.bridge.database.url });
    await database.connect();
    const context = await world.browser.newContext({ viewport: { width: 1440, height: 900 } });
    context.setDefaultTimeout(PATIENCE);
    page = await signedIn(context, world, workspace);
    const fields = ["LastName", "FirstName", "Email", "External_Id__c"];
    const body = { sf_object: "Contact", fields, upsert_field: "External_Id__c" };
    ({ id: mappingId } = await ask<{ id: string }>("POST", "/mappings", body));
    await vi.waitFor(async () => expect(await stateOf()).toBe("running"), PATIENCE);
    await database.query(`INSERT INTO rows.contact (lastname, firstname, email, external_id__c)
      SELECT 'Guest ' || n, 'G', 'guest' || n || '@example.com', 'G-' || n FROM generate_series(1, 60) n`);
    await database.query(
      "INSERT INTO rows.contact (lastname, email, external_id__c) VALUES ('Lovelace', 'nowhere', 'L-1')",
    );
    await settled();
  });
  beforeEach(() => {
    clicks = 0;
  });
  afterAll(async () => {
    await database?.end();
    await world?.close();
  });

  const ask = async <Data>(method: string, path: string, body?: unknown): Promise<Data> => {
    const request = { token: workspace.token, ...(body !== undefined && { body }) };
    return dataOf(await world.bridge.request(method, `/api/v1/t/${workspace.id}${path}`, request));
  };
  const stateOf = async () => (await ask<{ state: string }>("GET", `/mappings/${mappingId}`)).state;
  const settled = () =>
    vi.waitFor(async () => {
      const waiting = await database.query("SELECT FROM rows._trigger_log WHERE processed_at IS NULL");
      expect(waiting.rowCount).toBe(0);
    }, PATIENCE);
  const click = (target: Locator) => {
    clicks += 1;
    return target.first().click();
  };
  const button = (name: string | RegExp) => page.getByRole("button", { name });
  const link = (name: string | RegExp) => page.getByRole("link", { name });
  const sees = (text: string | RegExp) => page.getByText(text).first().waitFor();
  const hasNoFindings = async () => {
    const before = page.viewportSize();
    for (const width of [1440, 1024, 360]) {
      await page.setViewportSize({ width, height: 900 });
      expect([width, await allFindings(page)]).toEqual([width, []]);
      const wide =
        "[document.documentElement, ...document.querySelectorAll('.list')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent.slice(0, 80))";
      expect([width, await page.evaluate(wide)]).toEqual([width, []]);
    }
    if (before) await page.setViewportSize(before);
  };

  test("sees on the mapping's page what it moves, its fields with their columns and its latest changes", async () => {
    await goTo(page, world, `/mappings/${mappingId}`);

    await sees("→ lastname varchar(80)");
    await sees("Rows over time");
    await page.getByRole("table", { name: "The latest changes" }).waitFor();
    await page.getByRole("table", { name: "The last minutes with cycles" }).getByRole("row").nth(1).waitFor();
    await hasNoFindings();
  });

  test("browses the table by keyboard, searches it, sees failed rows first, and turns the page", async () => {
    await goTo(page, world, `/mappings/${mappingId}`);
    await click(link("Rows"));
    await page.getByRole("link", { name: "1", exact: true }).waitFor();
    await hasNoFindings();
    await click(button("Next page"));
    await page.getByRole("link", { name: "61", exact: true }).waitFor();
    await page.getByLabel("State").selectOption("sorted");
    const first = page.getByRole("row").nth(1);
    await first.getByText("failed", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Rows of Contact" }).focus();
    await page.keyboard.press("/");
    await page.keyboard.type("guest 42");
    await page.keyboard.press("Enter");
    const found = page.getByRole("link", { name: "42", exact: true });
    await found.waitFor();
    await page.getByRole("link", { name: "41", exact: true }).waitFor({ state: "detached" });
    await found.focus();
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await sees("both sides equal");
    expect(page.url()).toContain("key=42");
    expect(clicks).toBeLessThanOrEqual(2);
  });

  test("corrects a refused value in its field, and follows it to Salesforce's word", async () => {
    await goTo(page, world, "/rows/contact?key=L-1");
    await sees("Salesforce refuses the last change of this row");
    await sees("It takes an e-mail address of at most 80 characters.");
    await hasNoFindings();
    const field = page.getByLabel(/^email of row/);
    expect(await field.inputValue()).toBe("nowhere");

    await field.fill(`${"x".repeat(81)}@example.com`);
    await click(button("Save and send"));
    await sees(/too long/);
    await field.fill("ada@example.com");
    await click(button("Save and send"));
    await sees("Salesforce took it.");
    await sees("both sides equal");
    expect(clicks).toBeLessThanOrEqual(2);
    const { rows } = await database.query(
      "SELECT actor FROM rows._trigger_log WHERE record_id = 61 ORDER BY id DESC LIMIT 1",
    );
    expect(rows).toEqual([{ actor: "owner@example.com" }]);
  });

  test("finds a deleted row by its upsert value, sees who deleted it and until when, and brings it back", async () => {
    await settled();
    await database.query("DELETE FROM rows.contact WHERE external_id__c = 'G-7'");
    await settled();
    await goTo(page, world, "/");

    await page.keyboard.press("Control+k");
    await page.getByLabel("Record id, key or upsert value").fill("G-7");
    await page.keyboard.press("Enter");
    await sees(/^Deleted in PostgreSQL/);
    await sees(/recycle bin keeps the record until/);
    await hasNoFindings();
    await click(button("Restore"));
    await sees("It is being restored");
    await sees("both sides equal");
    expect(clicks).toBeLessThanOrEqual(1);
    const { rows } = await database.query("SELECT id FROM rows.contact WHERE external_id__c = 'G-7'");
    expect(rows).toEqual([{ id: "7" }]);
  });
});
