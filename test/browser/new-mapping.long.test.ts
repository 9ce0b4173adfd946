import { Client } from "pg";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { allFindings, findChromium, sayWithoutChromium } from "../support/clients/browser.ts";
import { dataOf } from "../support/clients/data-of.ts";
import type { TestWorkspace } from "../support/worlds/workspace.ts";
import { type ConsoleWorld, goTo, signedIn, startConsoleWorld } from "./world.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 300_000 });

/** Far more than it takes, so that a busy machine fails nothing. */
const PATIENCE = 60_000;

/** A form that is filled in one go. */
const MOST_FIELDS = 6;

sayWithoutChromium();

describe.skipIf(findChromium() === undefined)("a newcomer", () => {
  let world: ConsoleWorld;
  let workspace: TestWorkspace;
  let database: Client;
  let page: Page;
  let clicks: number;

  beforeAll(async () => {
    world = await startConsoleWorld();
    workspace = await world.bridge.createWorkspace("newcomer");
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
    await database?.end();
    await world?.close();
  });

  const click = (target: Locator) => {
    clicks += 1;
    return target.first().click();
  };
  const button = (name: string | RegExp) => page.getByRole("button", { name });
  const sees = (text: string | RegExp) => page.getByText(text).first().waitFor();
  const fields = () => page.locator("main .field:visible");
  const ask = async <Data>(method: string, path: string, body?: unknown): Promise<Data> => {
    const request = { token: workspace.token, ...(body !== undefined && { body }) };
    return dataOf(await world.bridge.request(method, `/api/v1/t/${workspace.id}${path}`, request));
  };
  const openForm = async (object: string) => {
    await click(page.getByRole("link", { name: "Mappings" }));
    await click(button("New mapping"));
    await page.getByLabel("Object", { exact: true }).fill(object);
    await page
      .getByRole("option", { name: new RegExp(`^${object}`) })
      .first()
      .click();
    await page.getByLabel("Table", { exact: true }).waitFor();
  };
  const rows = async (sql: string) => (await database.query(sql)).rows;

  test("chooses an object first, and nothing else is asked before", async () => {
    await goTo(page, world, "/mappings/new");
    await page.getByLabel("Object", { exact: true }).waitFor();

    expect(await fields().count()).toBe(1);
    expect(await page.getByText("Calls a day").count()).toBe(0);
    expect(await button("Create mapping").count()).toBe(0);
  });

  test("maps a table that exists in two clicks and one form, with required fields and the upsert field proposed", async () => {
    await rows("CREATE SCHEMA IF NOT EXISTS newcomer");
    await rows(
      "CREATE TABLE newcomer.people (id bigserial PRIMARY KEY, nick text, lastname varchar(80), external_id__c text)",
    );
    await openForm("Contact");

    expect(await page.getByRole("checkbox", { name: /^LastName/ }).isChecked()).toBe(true);
    await sees(/→ external_id__c varchar/);
    expect(await page.getByLabel("Upsert field").inputValue()).toBe("External_Id__c");
    await page.getByLabel("Table", { exact: true }).fill("people");
    expect(await fields().count()).toBeLessThanOrEqual(MOST_FIELDS);
    expect(await allFindings(page)).toEqual([]);
    await button("Create mapping").click();
    await page.getByText("running", { exact: true }).first().waitFor();

    expect(clicks).toBe(2);
    await rows(
      "INSERT INTO newcomer.people (nick, lastname, external_id__c) VALUES ('ada', 'Lovelace', 'demo-contact-2')",
    );
    const sent = "SELECT nick, sfid IS NOT NULL AS sent FROM newcomer.people";
    await vi.waitFor(async () => expect(await rows(sent)).toEqual([{ nick: "ada", sent: true }]), PATIENCE);
  });

  test("is warned before a required field is left out", async () => {
    await openForm("Lead");
    await page.getByRole("checkbox", { name: /^Company/ }).uncheck();

    await sees("Salesforce will refuse rows that are inserted without Company");
  });

  test("makes a mapping with a filter in two clicks and one form, and sees how many records match as it is typed", async () => {
    const user = (await ask<readonly { name: string }[]>("GET", "/objects")).find(({ name }) => name === "User");
    expect(user).toBeDefined();
    await openForm("User");
    const filter = page.getByLabel("Only records that match");
    await filter.fill("Username LIKE");
    await sees(/^the filter is not understood: at character 14 /);
    await filter.fill("Username = 'absent@example.com'");
    await sees("0 records match now.");
    await filter.fill("Username LIKE '%@bridge.example'");
    await sees("1 record matches now.");
    await page.getByLabel("Direction").selectOption("sf_to_pg");
    expect(await fields().count()).toBeLessThanOrEqual(MOST_FIELDS);
    const cost = await page.getByRole("heading", { name: "Calls a day" }).boundingBox();
    const table = await page.getByLabel("Table", { exact: true }).boundingBox();
    expect(cost?.y).toBeGreaterThan(table?.y ?? 0);
    await button("Create mapping").click();
    await page.getByText("running", { exact: true }).first().waitFor();

    expect(clicks).toBe(2);
    expect(await rows("SELECT count(*)::int AS users FROM newcomer.user")).toEqual([{ users: 1 }]);
  });

  test("sees on the overview what has just moved right below whether both sides are equal", async () => {
    await sees("Are both sides equal?");
    const heightOf = async (text: string) =>
      (await page.getByText(text, { exact: true }).first().boundingBox())?.y ?? 0;
    await sees("From Salesforce");

    expect(await heightOf("To Salesforce")).toBeGreaterThan(await heightOf("Are both sides equal?"));
    expect(await heightOf("Engine")).toBeGreaterThan(await heightOf("Rows over time"));
    expect(await heightOf("Rows over time")).toBeGreaterThan(await heightOf("To Salesforce"));
  });

  test("has a sample row written and follows it to Salesforce without a terminal, in the demo alone", async () => {
    await sees("Rows over time");
    expect(await button("Do it for me").count()).toBe(0);
    await ask("PATCH", `/mappings/${await contactId()}`, { fields: ["LastName", "Title", "External_Id__c"] });
    await vi.waitFor(async () => expect(await stateOf()).toBe("running"), PATIENCE);
    await ask("PATCH", "", { name: "demo" });
    await page.reload();

    await button("Do it for me").click();
    await sees("Saved, and Salesforce took it.");
    await sees(/^PostgreSQL has Countess, Salesforce has Countess\./);

    expect(await allFindings(page)).toEqual([]);
    const [change] = await ask<readonly { action: string; state: string }[]>("GET", "/monitoring/activity?limit=1");
    expect(change).toMatchObject({ action: "UPDATE", state: "SUCCESS" });
    expect(await rows("SELECT title FROM newcomer.people")).toEqual([{ title: "Countess" }]);
  });

  const contact = async () => {
    const all = await ask<readonly { id: string; sf_object: string; state: string }[]>("GET", "/monitoring/mappings");
    return all.find(({ sf_object }) => sf_object === "Contact");
  };
  const contactId = async () => (await contact())?.id;
  const stateOf = async () => (await contact())?.state;
});
