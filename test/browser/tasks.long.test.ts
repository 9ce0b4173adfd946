import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { findChromium, sayWithoutChromium } from "../support/clients/browser.ts";
import { PATIENCE, startUser, type User } from "./user.ts";
import { signedIn } from "./world.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 300_000 });

/** The presses of the pointer that each task may take, from the overview on; what is typed and Enter are none. */
const MOST_CLICKS = {
  "why did a row fail, and correct it": 3,
  "why is a row not in Salesforce yet": 0,
  "a mapping with a filter": 2,
  "map an existing table": 2,
  "what changed yesterday, and by whom": 2,
  "register a webhook, see a delivery fail, retry it": 4,
  "rotate a secret": 2,
  "the mapping that costs the most calls": 1,
  "pause everything, resume": 3,
  "compare the configuration with a baseline": 2,
  "import a configuration by its plan": 3,
  "invite a colleague who may only read": 3,
  "find a deleted record and bring it back": 3,
  "prove that both sides are equal right now": 2,
} as const;

type Task = keyof typeof MOST_CLICKS;

sayWithoutChromium();

describe.skipIf(findChromium() === undefined)("each of the fourteen tasks is done in its few clicks:", () => {
  let user: User;
  let contact: string;
  const done = new Set<Task>();

  beforeAll(async () => {
    user = await startUser("tasks");
    const fields = ["LastName", "FirstName", "Email", "External_Id__c"];
    const body = { sf_object: "Contact", fields, upsert_field: "External_Id__c" };
    ({ id: contact } = await user.ask<{ id: string }>("POST", "/mappings", body));
    await runs("Contact");
    await user.ask("POST", "/config/baseline");
    await user.database.query(`INSERT INTO tasks.contact (lastname, email, external_id__c)
      SELECT 'Guest ' || n, 'guest' || n || '@example.com', 'G-' || n FROM generate_series(1, 9) n`);
    await user.settled();
  });
  afterAll(() => user?.close());

  const runs = (object: string) =>
    vi.waitFor(async () => {
      const mappings = await user.ask<{ sf_object: string; state: string }[]>("GET", "/monitoring/mappings");
      expect(mappings.find(({ sf_object }) => sf_object === object)?.state).toBe("running");
    }, PATIENCE);

  /** Does a task from the overview on, and counts its clicks. */
  const task = (name: Task, act: (user: User) => Promise<void>) =>
    test(name, async () => {
      await user.begin("/");
      await act(user);
      expect(await user.clicks()).toBeLessThanOrEqual(MOST_CLICKS[name]);
      done.add(name);
    });

  /** Finds something by Ctrl-K, without a click, and takes the first of what is found. */
  const find = async ({ page }: User, text: string, entry: RegExp) => {
    await page.keyboard.press("Control+k");
    await page.locator("[aria-label^='Find a row']:focus").waitFor();
    await page.keyboard.type(text);
    await page.getByRole("option", { name: entry }).first().waitFor();
    await page.keyboard.press("Enter");
  };

  task("why did a row fail, and correct it", async ({ button, click, database, link, page, sees }) => {
    await database.query("INSERT INTO tasks.contact (lastname, external_id__c) VALUES (NULL, 'N-1')");

    await click(link("See why"));
    await click(button("Show rows"));
    await page.getByLabel(/^lastname of row/).fill("Lovelace");
    await click(button("Save and send"));

    await sees("No failed rows");
    const sent = await database.query("SELECT lastname, sfid FROM tasks.contact WHERE external_id__c = 'N-1'");
    expect(sent.rows).toEqual([{ lastname: "Lovelace", sfid: expect.any(String) }]);
  });

  task("why is a row not in Salesforce yet", async (user) => {
    await user.ask("PUT", "/pause", { paused: true, reason: "the org moves" });
    await user.database.query("INSERT INTO tasks.contact (lastname, external_id__c) VALUES ('Hopper', 'H-1')");

    await find(user, "H-1", /^Row H-1/);

    await user.sees(/the org moves/);
    await user.sees(/^Waits since /);
    await user.ask("PUT", "/pause", { paused: false });
  });

  task("pause everything, resume", async ({ ask, button, click, link, page, sees }) => {
    await click(link("Mappings"));
    await click(button("Pause all"));
    await page.locator("[placeholder='The org is being migrated']:focus").waitFor();
    await page.keyboard.type("the org moves again");
    await page.keyboard.press("Enter");
    await sees(/^Paused since .* by owner@example.com: the org moves again/);
    await click(button("Resume"));

    await page.getByText(/^Paused since/).waitFor({ state: "detached" });
    expect(await ask("GET", "")).toMatchObject({ pause: null });
  });

  task("a mapping with a filter", async ({ ask, click, button, link, page }) => {
    await click(link("Mappings"));
    await click(button("New mapping"));
    await page.getByLabel("Object", { exact: true }).fill("Account");
    await page
      .getByRole("option", { name: /^Account/ })
      .first()
      .waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Create mapping", disabled: false }).waitFor();
    const filter = page.getByLabel(/^Only records/);
    await filter.fill("Industry = 'Energy'");
    await filter.press("Enter");

    await page.getByRole("heading", { name: "Account", exact: true }).waitFor();
    await runs("Account");
    const mappings = await ask<{ filter: string | null; sf_object: string }[]>("GET", "/monitoring/mappings");
    expect(mappings.find(({ sf_object }) => sf_object === "Account")?.filter).toBe("Industry = 'Energy'");
  });

  task("map an existing table", async ({ ask, button, click, database, link, page }) => {
    await database.query("CREATE TABLE tasks.people (id serial PRIMARY KEY, lastname text, company text)");
    await database.query("INSERT INTO tasks.people (lastname, company) VALUES ('Noether', 'Goettingen')");

    await click(link("Mappings"));
    await click(button("New mapping"));
    await page.getByLabel("Object", { exact: true }).fill("Lead");
    await page.getByRole("option", { name: /^Lead/ }).first().waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Create mapping", disabled: false }).waitFor();
    const table = page.getByLabel("Table", { exact: true });
    await table.fill("people");
    await table.press("Enter");

    await page.getByRole("heading", { name: "Lead", exact: true }).waitFor();
    await runs("Lead");
    const mappings = await ask<{ pg_table: string; sf_object: string }[]>("GET", "/monitoring/mappings");
    expect(mappings.find(({ sf_object }) => sf_object === "Lead")?.pg_table).toBe("people");
  });

  test("what changed yesterday, and by whom", async () => {
    const { workspace, world } = user;
    await user.ask("PATCH", `/mappings/${contact}`, { sf_polling_seconds: 20 });
    const tomorrow = await signedIn(await user.context(), world, workspace);
    await tomorrow.clock.setFixedTime(Date.now() + 86_400_000);

    await tomorrow.getByRole("link", { name: "Audit log" }).click();
    await tomorrow.getByRole("button", { name: "Yesterday" }).click();

    const row = tomorrow.getByRole("row", { name: /^24 h ago owner@example.com updated the mapping Contact/ });
    await row.waitFor();
    expect(await row.getByRole("link", { name: "Contact" }).getAttribute("href")).toBe(`#/mappings/${contact}`);
    expect(await tomorrow.evaluate("sessionStorage.getItem('clicks')")).toBe("2");
    await tomorrow.getByRole("button", { name: "Today" }).click();
    await tomorrow.getByText("No such entries").waitFor();
    await tomorrow.context().close();
    done.add("what changed yesterday, and by whom");
  });

  task("register a webhook, see a delivery fail, retry it", async ({ button, click, link, page, sees, world }) => {
    world.receiver.answer({ status: 500, body: "the pager is out of paper" });

    await click(link("Webhooks"));
    await click(button("New webhook"));
    await page.getByLabel("URL").fill(`${world.receiver.url}/tasks`);
    await page.keyboard.press("Enter");
    await sees(/^whsec_/);
    await click(button("I have kept it: send a test"));
    await page.getByRole("cell", { name: "failed" }).waitFor();
    world.receiver.answer(200);
    await click(button(/^Retry/));

    await page.getByRole("cell", { name: "successful" }).waitFor();
    expect(world.receiver.received).toHaveLength(2);
  });

  task("rotate a secret", async (user) => {
    const { button, click, sees } = user;
    await find(user, "rotate secret", /^Rotate the secret of/);
    await click(button("Rotate secret"));
    await sees(/^whsec_/);
    await click(button("I have kept it"));

    await sees(/^The old secret signs as well/);
  });

  task("the mapping that costs the most calls", async ({ ask, click, link, page }) => {
    await click(link("API calls"));
    const first = page
      .getByRole("table", { name: /^API calls/ })
      .getByRole("row")
      .nth(1);
    const object = (await first.getByRole("cell").first().textContent()) ?? "";

    const { hours } = await ask<{ hours: { sf_object: string; calls: number }[] }>("GET", "/monitoring/budget");
    const calls = (name: string) => hours.reduce((sum, hour) => sum + (hour.sf_object === name ? hour.calls : 0), 0);
    expect(calls(object)).toBe(Math.max(...["Contact", "Account", "Lead"].map(calls)));
  });

  task("compare the configuration with a baseline", async ({ click, link, sees }) => {
    await click(link("Configuration"));
    await click(link("Baseline and drift"));

    await sees("+ the mapping was created");
  });

  task("import a configuration by its plan", async (user) => {
    const { ask, button, click, page, sees } = user;
    const document = await ask<{ mappings: { object_name: string; config: { sf_polling_seconds: number } }[] }>(
      "GET",
      "/config/export",
    );
    for (const { config } of document.mappings) config.sf_polling_seconds = 60;

    await find(user, "import", /^Import a configuration/);
    const chooser = page.waitForEvent("filechooser");
    await click(page.getByLabel(/^A file/));
    const buffer = Buffer.from(JSON.stringify(document));
    await (await chooser).setFiles({ name: "changed.json", mimeType: "application/json", buffer });
    await sees("~ sf_polling_seconds: 20 → 60");
    await click(button("Import"));

    await sees("The configuration is imported");
    const mappings = await ask<{ sf_polling_seconds: number }[]>("GET", "/monitoring/mappings");
    expect(new Set(mappings.map(({ sf_polling_seconds }) => sf_polling_seconds))).toEqual(new Set([60]));
  });

  task("invite a colleague who may only read", async ({ ask, button, click, link, page, sees }) => {
    await click(link("Tokens"));
    await click(button("Invite"));
    await page.getByLabel("E-mail address").fill("eve@example.com");
    await page.keyboard.press("Enter");

    await sees(/invitation=/);
    const tokens = await ask<{ owner: string; scopes: string[]; state: string }[]>("GET", "/tokens");
    expect(tokens.find(({ owner }) => owner === "eve@example.com")).toMatchObject({
      scopes: ["read"],
      state: "invited",
    });
    await button("I have copied it").click();
  });

  task("find a deleted record and bring it back", async (user) => {
    const { button, click, database, sees, settled } = user;
    await database.query("DELETE FROM tasks.contact WHERE external_id__c = 'G-7'");
    await settled();

    await find(user, "G-7", /^Row G-7/);
    await sees(/^Deleted in PostgreSQL/);
    await click(button("Restore"));

    await sees("both sides equal");
    const { rowCount } = await database.query("SELECT FROM tasks.contact WHERE external_id__c = 'G-7'");
    expect(rowCount).toBe(1);
  });

  task("prove that both sides are equal right now", async ({ click, page, settled }) => {
    await settled();
    const both = page.getByRole("paragraph").filter({ hasText: /^Contact/ });
    await click(both.getByRole("button", { name: "Compare now" }));

    await both.filter({ hasText: /equal.*Compared (just now|\d+ s ago)/ }).waitFor();
  });

  test("and none is left out", () => {
    expect([...done].toSorted()).toEqual(Object.keys(MOST_CLICKS).toSorted());
  });
});
