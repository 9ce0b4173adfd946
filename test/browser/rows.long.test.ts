import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { findChromium, sayWithoutChromium } from "../support/clients/browser.ts";
import { PATIENCE, startUser, type User } from "./user.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 300_000 });

sayWithoutChromium();

describe.skipIf(findChromium() === undefined)("among the rows, a user", () => {
  let user: User;
  let mappingId: string;

  beforeAll(async () => {
    user = await startUser("rows");
    const fields = ["LastName", "FirstName", "Email", "External_Id__c"];
    const body = { sf_object: "Contact", fields, upsert_field: "External_Id__c" };
    ({ id: mappingId } = await user.ask<{ id: string }>("POST", "/mappings", body));
    const stateOf = async () => (await user.ask<{ state: string }>("GET", `/mappings/${mappingId}`)).state;
    await vi.waitFor(async () => expect(await stateOf()).toBe("running"), PATIENCE);
    await user.database.query(`INSERT INTO rows.contact (lastname, firstname, email, external_id__c)
      SELECT 'Guest ' || n, 'G', 'guest' || n || '@example.com', 'G-' || n FROM generate_series(1, 60) n`);
    await user.database.query(
      "INSERT INTO rows.contact (lastname, email, external_id__c) VALUES ('Lovelace', 'nowhere', 'L-1')",
    );
    await user.settled();
  });
  afterAll(() => user?.close());

  test("sees on the mapping's page what it moves, its fields with their columns and its latest changes", async () => {
    const { begin, hasNoFindings, page, sees } = user;
    await begin(`/mappings/${mappingId}`);

    await sees("→ lastname varchar(80)");
    await sees("Rows over time");
    await page.getByRole("table", { name: "The latest changes" }).waitFor();
    await page.getByRole("table", { name: "The last minutes with cycles" }).getByRole("row").nth(1).waitFor();
    const times: string[] = await page.evaluate("[...document.querySelectorAll('time')].map(({ title }) => title)");
    expect(times.length).toBeGreaterThan(10);
    expect(times.filter((title) => !/ 20\d\d.* · 20\d\d-\d\d-\d\d .* UTC$/.test(title))).toEqual([]);
    await hasNoFindings();
  });

  test("browses the table by keyboard, searches it, sees failed rows first, and turns the page", async () => {
    const { begin, button, click, clicks, hasNoFindings, link, page, sees } = user;
    await begin(`/mappings/${mappingId}`);
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
    expect(await clicks()).toBeLessThanOrEqual(3);
  });

  test("finds by Ctrl-K a row by a name and by an e-mail address, a page, a mapping and an act; ? shows the keys", async () => {
    const { begin, button, clicks, hasNoFindings, page, sees } = user;
    await begin("/");
    await button(/^Find … (Ctrl|⌘) K$/).waitFor();
    const find = async (text: string, entry: RegExp) => {
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.keyboard.press("Control+k");
      await page.locator("[aria-label^='Find a row']:focus").waitFor();
      await page.keyboard.type(text);
      await page.getByRole("option", { name: entry }).first().waitFor();
    };

    await find("guest 42", /^Guest 42, .*contact 42$/);
    await hasNoFindings();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "contact 42" }).waitFor();
    await find("guest43@EXAMPLE", /^guest43@example.com, .*contact 43$/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "contact 43" }).waitFor();
    await find("drift", /^Drift/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Configuration" }).waitFor();
    await find("cont", /^Contact/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Contact", exact: true }).waitFor();
    await find("compare cont", /^Compare Contact now$/);
    await page.keyboard.press("Enter");
    await sees("Comparing both sides of Contact");
    await find("pause contact", /^Pause Contact$/);
    await page.keyboard.press("Enter");
    await sees("Contact is paused");
    await find("activate", /^Activate Contact$/);
    await page.keyboard.press("Enter");
    await sees("Contact is active again");
    await find("pause every", /^Pause everything$/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Pause everything?" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Pause everything?" }).waitFor({ state: "detached" });

    await page.getByRole("heading", { name: "Contact", exact: true }).focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).getByText("Find a row").waitFor();
    await hasNoFindings();
    await page.keyboard.press("Escape");
    expect(await clicks()).toBe(0);
  });

  test("corrects a refused value in its field, and follows it to Salesforce's word", async () => {
    const { begin, button, click, clicks, database, hasNoFindings, page, sees } = user;
    await begin("/rows/contact?key=L-1");
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
    expect(await clicks()).toBeLessThanOrEqual(2);
    const { rows } = await database.query(
      "SELECT actor FROM rows._trigger_log WHERE record_id = 61 ORDER BY id DESC LIMIT 1",
    );
    expect(rows).toEqual([{ actor: "owner@example.com" }]);
  });

  test("finds a deleted row by its upsert value, sees who deleted it and until when, and brings it back", async () => {
    const { begin, button, click, clicks, database, hasNoFindings, page, sees, settled } = user;
    await settled();
    await database.query("DELETE FROM rows.contact WHERE external_id__c = 'G-7'");
    await settled();
    await begin("/");

    await page.keyboard.press("Control+k");
    await page.keyboard.type("G-7");
    await page.keyboard.press("Enter");
    await sees(/^Deleted in PostgreSQL/);
    await sees(/recycle bin keeps the record until/);
    await hasNoFindings();
    await click(button("Restore"));
    await sees("It is being restored");
    await sees("both sides equal");
    expect(await clicks()).toBeLessThanOrEqual(1);
    const { rows } = await database.query("SELECT id FROM rows.contact WHERE external_id__c = 'G-7'");
    expect(rows).toEqual([{ id: "7" }]);
  });

  test("sees which row each delivery is about, filters them, and sends those that failed again together", async () => {
    const { ask, begin, button, click, clicks, database, hasNoFindings, page, sees, settled, world } = user;
    world.receiver.answer(500);
    const body = { url: `${world.receiver.url}/rows`, events: ["record.failed"] };
    const { id } = await ask<{ id: string }>("POST", "/webhooks", body);
    await database.query("INSERT INTO rows.contact (lastname, email) VALUES ('Eve', 'nowhere'), ('Eva', 'nowhere')");
    await settled();
    await begin(`/webhooks/${id}`);
    await page.getByLabel("Status").selectOption("failed");
    await page.getByRole("cell", { name: "failed", exact: true }).nth(1).waitFor();
    await hasNoFindings();

    world.receiver.answer(200);
    await click(page.getByLabel("Choose all of this page"));
    await click(button("Send 2 again"));
    await sees("2 deliveries sent again");
    await sees("No such deliveries");
    await page.getByLabel("Status").selectOption("successful");
    await page.getByRole("cell", { name: "successful", exact: true }).nth(1).waitFor();
    expect(await clicks()).toBeLessThanOrEqual(4);
    expect(world.receiver.received).toHaveLength(4);
    await page
      .getByRole("link", { name: /^Contact, contact 6\d$/ })
      .first()
      .click();
    await page.getByRole("heading", { name: /^contact 6\d$/ }).waitFor();
  });
});
