import { beforeAll, expect, test, vi } from "vitest";
import { consoleUser, inBrowser, PATIENCE, signedIn, type User } from "./world.ts";

inBrowser("each of the fourteen tasks is done in its few clicks:", () => {
  const user = consoleUser("tasks");
  let contact: string;

  beforeAll(async () => {
    const fields = ["LastName", "FirstName", "Email", "Title", "External_Id__c"];
    contact = await user.maps({ sf_object: "Contact", fields, upsert_field: "External_Id__c" });
    await user.ask("POST", "/config/baseline");
    await user.sql(`INSERT INTO tasks.contact (lastname, email, external_id__c)
      SELECT 'Guest ' || n, 'guest' || n || '@example.com', 'G-' || n FROM generate_series(1, 9) n`);
    await user.settled();
  });

  /** Does a task from the overview on, and counts its presses of the pointer; what is typed and Enter are none. */
  const task = (name: string, mostClicks: number, act: (user: User) => Promise<unknown>) =>
    test(name, async () => {
      await user.begin("/");
      await act(user);
      expect(await user.clicks()).toBeLessThanOrEqual(mostClicks);
    });

  /** A form that is filled in one go. */
  const isShort = async () => expect(await user.page.locator("main .field:visible").count()).toBeLessThanOrEqual(6);

  const openForm = async ({ button, click, label, link, page }: User, object: string) => {
    await click(link("Mappings"));
    await click(button("New mapping"));
    await label("Object").waitFor();
    expect(await page.locator("main .field:visible").count()).toBe(1);
    await label("Object").fill(object);
    const option = page.getByRole("option", { name: new RegExp(`^${object}`) });
    await option.first().waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Create mapping", disabled: false }).waitFor();
  };

  task("why did a row fail, and correct it", 3, async ({ button, click, label, link, sees, sql }) => {
    await sql("INSERT INTO tasks.contact (lastname, external_id__c) VALUES (NULL, 'N-1')");

    await click(link("See why"));
    await click(button("Show rows"));
    await label(/^lastname of row/).fill("Lovelace");
    await click(button("Save and send"));

    await sees("No failed rows");
    const sent = await sql("SELECT lastname, sfid FROM tasks.contact WHERE external_id__c = 'N-1'");
    expect(sent).toEqual([{ lastname: "Lovelace", sfid: expect.any(String) }]);
  });

  task("why is a row not in Salesforce yet", 0, async ({ ask, find, sees, sql }) => {
    await ask("PUT", "/pause", { paused: true, reason: "the org moves" });
    await sql("INSERT INTO tasks.contact (lastname, external_id__c) VALUES ('Hopper', 'H-1')");

    await find("H-1", /^Row H-1/);

    await sees(/the org moves/);
    await sees(/^Waits since /);
    await ask("PUT", "/pause", { paused: false });
  });

  task("pause everything, resume", 3, async ({ ask, button, click, link, page, sees }) => {
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

  task("a mapping with a filter, seeing how many records match as it is typed", 2, async () => {
    const { label, page, runs, sees, sql } = user;
    await openForm(user, "User");
    const filter = label(/^Only records/);
    await filter.fill("Username LIKE");
    await sees(/^the filter is not understood: at character 14 /);
    await filter.fill("Username = 'absent@example.com'");
    await sees("0 records match now.");
    await filter.fill("Username LIKE '%@bridge.example'");
    await sees("1 record matches now.");
    await isShort();
    await filter.press("Enter");

    await page.getByRole("heading", { name: "User", exact: true }).waitFor();
    await runs("User");
    await vi.waitFor(async () => expect(await sql('SELECT id FROM tasks."user"')).toHaveLength(1), PATIENCE);
  });

  task("map an existing table, with required fields proposed", 2, async () => {
    const { ask, hasNoFindings, label, page, runs, sees, sql } = user;
    await sql("CREATE TABLE tasks.people (id serial PRIMARY KEY, nick text, lastname text, company text)");
    await openForm(user, "Lead");
    expect(await page.getByRole("checkbox", { name: /^LastName/ }).isChecked()).toBe(true);
    await sees(/→ lastname varchar/);
    await page.getByRole("checkbox", { name: /^Company/ }).press("Space");
    await sees("Salesforce will refuse rows that are inserted without Company");
    await page.getByRole("checkbox", { name: /^Company/ }).press("Space");
    await label("Table").fill("people");
    await isShort();
    await hasNoFindings();
    await label("Table").press("Enter");

    await page.getByRole("heading", { name: "Lead", exact: true }).waitFor();
    await runs("Lead");
    const mappings = await ask<{ pg_table: string; sf_object: string }[]>("GET", "/monitoring/mappings");
    expect(mappings.find(({ sf_object }) => sf_object === "Lead")?.pg_table).toBe("people");
    await sql("INSERT INTO tasks.people (nick, lastname, company) VALUES ('emmy', 'Noether', 'Goettingen')");
    const sent = () => sql("SELECT nick FROM tasks.people WHERE sfid IS NOT NULL");
    await vi.waitFor(async () => expect(await sent()).toEqual([{ nick: "emmy" }]), PATIENCE);
  });

  task("what changed yesterday, and by whom", 0, async ({ ask, context, workspace, world }) => {
    await ask("PATCH", `/mappings/${contact}`, { sf_polling_seconds: 20 });
    const tomorrow = await signedIn(await context(), world, workspace);
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
  });

  task(
    "register a webhook, see a delivery fail, retry it",
    4,
    async ({ button, click, label, link, page, sees, world }) => {
      world.receiver.answer({ status: 500, body: "the pager is out of paper" });

      await click(link("Webhooks"));
      await click(button("New webhook"));
      await label("URL").fill(`${world.receiver.url}/tasks`);
      await page.keyboard.press("Enter");
      await sees(/^whsec_/);
      await click(button("I have kept it: send a test"));
      await page.getByRole("cell", { name: "failed" }).waitFor();
      world.receiver.answer(200);
      await click(button(/^Retry/));

      await page.getByRole("cell", { name: "successful" }).waitFor();
      expect(world.receiver.received).toHaveLength(2);
    },
  );

  task("rotate a secret", 2, async ({ button, click, find, sees }) => {
    await find("rotate secret", /^Rotate the secret of/);
    await click(button("Rotate secret"));
    await sees(/^whsec_/);
    await click(button("I have kept it"));

    await sees(/^The old secret signs as well/);
  });

  task("the mapping that costs the most calls", 1, async ({ ask, click, link, page }) => {
    await click(link("API calls"));
    const rows = page.getByRole("table", { name: /^API calls/ }).getByRole("row");
    const object = (await rows.nth(1).getByRole("cell").first().textContent()) ?? "";

    const { hours } = await ask<{ hours: { sf_object: string; calls: number }[] }>("GET", "/monitoring/budget");
    const calls = (name: string) => hours.reduce((sum, hour) => sum + (hour.sf_object === name ? hour.calls : 0), 0);
    expect(calls(object)).toBe(Math.max(...["Contact", "User", "Lead"].map(calls)));
  });

  task("compare the configuration with a baseline", 2, async ({ click, link, sees }) => {
    await click(link("Configuration"));
    await click(link("Baseline and drift"));

    await sees("+ the mapping was created");
  });

  task("import a configuration by its plan", 3, async ({ ask, button, click, find, label, page, sees }) => {
    const document = await ask<{ mappings: { config: { sf_polling_seconds: number } }[] }>("GET", "/config/export");
    for (const { config } of document.mappings) config.sf_polling_seconds = 60;

    await find("import", /^Import a configuration/);
    const chooser = page.waitForEvent("filechooser");
    await click(label(/^A file/));
    const buffer = Buffer.from(JSON.stringify(document));
    await (await chooser).setFiles({ name: "changed.json", mimeType: "application/json", buffer });
    await sees("~ sf_polling_seconds: 20 → 60");
    const seconds = async () => {
      const mappings = await ask<{ sf_polling_seconds: number }[]>("GET", "/monitoring/mappings");
      return new Set(mappings.map(({ sf_polling_seconds }) => sf_polling_seconds));
    };
    expect(await seconds()).toContain(20);
    await click(button("Import"));

    await sees("The configuration is imported");
    expect(await seconds()).toEqual(new Set([60]));
  });

  task("invite a colleague who may only read", 3, async ({ ask, button, click, label, link, page, sees }) => {
    await click(link("Tokens"));
    await click(button("Invite"));
    await label("E-mail address").fill("eve@example.com");
    await page.keyboard.press("Enter");

    await sees(/invitation=/);
    const tokens = await ask<{ owner: string; scopes: string[]; state: string }[]>("GET", "/tokens");
    const eve = tokens.find(({ owner }) => owner === "eve@example.com");
    expect(eve).toMatchObject({ scopes: ["read"], state: "invited" });
    await button("I have copied it").click();
  });

  task(
    "find a deleted record and bring it back",
    1,
    async ({ button, click, find, hasNoFindings, sees, settled, sql }) => {
      await sql("DELETE FROM tasks.contact WHERE external_id__c = 'G-7'");
      await settled();

      await find("G-7", /^Row G-7/);
      await sees(/^Deleted in PostgreSQL/);
      await sees(/recycle bin keeps the record until/);
      await hasNoFindings();
      await click(button("Restore"));

      await sees("both sides equal");
      expect(await sql("SELECT id FROM tasks.contact WHERE external_id__c = 'G-7'")).toHaveLength(1);
    },
  );

  task("prove that both sides are equal right now", 2, async ({ click, page, settled }) => {
    await settled();
    const both = page.getByRole("paragraph").filter({ hasText: /^Contact/ });
    await click(both.getByRole("button", { name: "Compare now" }));

    await both.filter({ hasText: /equal.*Compared (just now|\d+ s ago)/ }).waitFor();
  });

  task(
    "in the demo alone, a sample row is written and followed",
    1,
    async ({ ask, button, click, page, sees, sql }) => {
      await sql("INSERT INTO tasks.contact (lastname, external_id__c) VALUES ('Lovelace', 'demo-contact-2')");
      await sees("Rows over time");
      expect(await button("Do it for me").count()).toBe(0);
      await ask("PATCH", "", { name: "demo" });
      await page.reload();

      await click(button("Do it for me"));
      await sees("Saved, and Salesforce took it.");
      await sees(/^PostgreSQL has Countess, Salesforce has Countess\./);
      const written = await sql("SELECT title FROM tasks.contact WHERE external_id__c = 'demo-contact-2'");
      expect(written).toEqual([{ title: "Countess" }]);
    },
  );
});
