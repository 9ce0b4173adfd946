import { beforeAll, expect, test } from "vitest";
import { consoleUser, inBrowser } from "./world.ts";

inBrowser("among the rows, a user", () => {
  const user = consoleUser("rows");
  let mappingId: string;

  beforeAll(async () => {
    const fields = ["LastName", "FirstName", "Email", "External_Id__c"];
    mappingId = await user.maps({ sf_object: "Contact", fields, upsert_field: "External_Id__c" });
    await user.sql(`INSERT INTO rows.contact (lastname, firstname, email, external_id__c)
      SELECT 'Guest ' || n, 'G', 'guest' || n || '@example.com', 'G-' || n FROM generate_series(1, 60) n`);
    await user.sql("INSERT INTO rows.contact (lastname, email, external_id__c) VALUES ('Lovelace', 'nowhere', 'L-1')");
    await user.settled();
  });

  test("browses the table by keyboard, searches it, sees failed rows first, and turns the page", async () => {
    const { begin, button, click, clicks, hasNoFindings, label, link, page, sees } = user;
    const row = (key: string) => page.getByRole("link", { name: key, exact: true });
    await begin(`/mappings/${mappingId}`);
    await click(link("Rows"));
    await row("1").waitFor();
    await hasNoFindings();
    await click(button("Next page"));
    await row("61").waitFor();
    await label("State").selectOption("sorted");
    const first = page.getByRole("row").nth(1);
    await first.getByText("failed", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Rows of Contact" }).focus();
    await page.keyboard.press("/");
    await page.keyboard.type("guest 42");
    await page.keyboard.press("Enter");
    await row("42").waitFor();
    await row("41").waitFor({ state: "detached" });
    await row("42").focus();
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await sees("both sides equal");
    expect(page.url()).toContain("key=42");
    expect(await clicks()).toBeLessThanOrEqual(3);
  });

  test("finds by Ctrl-K a row by a name and by an e-mail address, a page, a mapping and an act; ? shows the keys", async () => {
    const { begin, button, clicks, find, hasNoFindings, page, sees } = user;
    const heading = (name: string) => page.getByRole("heading", { name, exact: true });
    await begin("/");
    await button(/^Find … (Ctrl|⌘) K$/).waitFor();

    for (const [text, entry, found] of [
      ["guest 42", /^Guest 42, .*contact 42$/, "contact 42"],
      ["guest43@EXAMPLE", /^guest43@example.com, .*contact 43$/, "contact 43"],
      ["drift", /^Drift/, "Configuration"],
      ["cont", /^Contact/, "Contact"],
    ] as const) {
      await find(text, entry);
      await heading(found).waitFor();
    }
    for (const [text, entry, done] of [
      ["compare cont", /^Compare Contact now$/, "Comparing both sides of Contact"],
      ["pause contact", /^Pause Contact$/, "Contact is paused"],
      ["activate", /^Activate Contact$/, "Contact is active again"],
    ] as const) {
      await find(text, entry);
      await sees(done);
    }
    await find("pause every", /^Pause everything$/);
    await page.getByRole("dialog", { name: "Pause everything?" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Pause everything?" }).waitFor({ state: "detached" });

    await heading("Contact").focus();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).getByText("Find a row").waitFor();
    await hasNoFindings();
    await page.keyboard.press("Escape");
    expect(await clicks()).toBe(0);
  });

  test("sees which row each delivery is about, filters them, and sends those that failed again together", async () => {
    const { ask, begin, button, click, clicks, hasNoFindings, label, link, page, sees, settled, sql, world } = user;
    const second = (name: string) => page.getByRole("cell", { name, exact: true }).nth(1).waitFor();
    world.receiver.answer(500);
    const body = { url: `${world.receiver.url}/rows`, events: ["record.failed"] };
    const { id } = await ask<{ id: string }>("POST", "/webhooks", body);
    await sql("INSERT INTO rows.contact (lastname, email) VALUES ('Eve', 'nowhere'), ('Eva', 'nowhere')");
    await settled();
    await begin(`/webhooks/${id}`);
    await label("Status").selectOption("failed");
    await second("failed");
    await hasNoFindings();

    world.receiver.answer(200);
    await click(label("Choose all of this page"));
    await click(button("Send 2 again"));
    await sees("2 deliveries sent again");
    await sees("No such deliveries");
    await label("Status").selectOption("successful");
    await second("successful");
    expect(await clicks()).toBeLessThanOrEqual(4);
    expect(world.receiver.received).toHaveLength(4);
    await click(link(/^Contact, contact 6\d$/));
    await page.getByRole("heading", { name: /^contact 6\d$/ }).waitFor();
  });
});
