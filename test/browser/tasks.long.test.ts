import { readFileSync } from "node:fs";
import { Client } from "pg";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { now, pepper, tokens, workspaces } from "../../functions/services/composition.ts";
import { ensureDeployment } from "../../lib/access/bootstrap.ts";
import { createToken } from "../../lib/access/create-token.ts";
import type { SalesforceConnection } from "../../lib/model/workspace/workspace.ts";
import { allFindings, findChromium, sayWithoutChromium, seriousFindings } from "../support/clients/browser.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { keepSecret } from "../support/run/secrets.ts";
import type { TestWorkspace } from "../support/worlds/workspace.ts";
import { type ConsoleWorld, goTo, signedIn, startConsoleWorld } from "./world.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 300_000 });

/** Far more than it takes, so that a busy machine fails nothing. */
const PATIENCE = 200_000;

sayWithoutChromium();

describe.skipIf(findChromium() === undefined)("in few clicks, a user", () => {
  let world: ConsoleWorld;
  let workspace: TestWorkspace;
  let database: Client;
  let page: Page;
  let clicks: number;

  beforeAll(async () => {
    world = await startConsoleWorld();
    workspace = await world.bridge.createWorkspace("tasks");
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
    await database.end();
    await world.close();
  });

  const click = (target: Locator) => {
    clicks += 1;
    return target.first().click();
  };
  const button = (name: string | RegExp) => page.getByRole("button", { name });
  const link = (name: string | RegExp) => page.getByRole("link", { name });
  const sees = (text: string | RegExp) => page.getByText(text).first().waitFor();
  const ask = async <Data>(method: string, path: string, body?: unknown): Promise<Data> => {
    const request = { token: workspace.token, ...(body !== undefined && { body }) };
    return dataOf(await world.bridge.request(method, `/api/v1/t/${workspace.id}${path}`, request));
  };

  test("rotates a token, and cannot leave the step that shows it by Escape or a click outside", async () => {
    await ask("POST", "/tokens", { name: "worker", owner: "ada@example.com", scopes: ["operate"] });
    await click(link("Tokens"));
    await click(button("Rotate worker"));
    await click(button("Make the new token"));
    const token = (await page.getByText(/^brg_o/).textContent()) ?? "";
    expect(await seriousFindings(page)).toEqual([]);

    await page.keyboard.press("Escape");
    await page.mouse.click(5, 5);
    expect(await page.getByText(token).count()).toBe(1);
    expect(await page.getByRole("dialog").getByRole("button", { name: "Close" }).count()).toBe(0);
    await click(button("I have kept it"));

    await sees("worker is rotated");
    expect(clicks).toBeLessThanOrEqual(4);
    const tokens = await ask<{ name: string; state: string; valid_until: string | null }[]>("GET", "/tokens");
    const workers = tokens.filter(({ name }) => name === "worker");
    expect(workers.map(({ state, valid_until }) => [state, valid_until === null])).toEqual([
      ["valid", true],
      ["valid", false],
    ]);
  });

  test("sees which deletes are on hold, rejects one of them and releases the others", async () => {
    const body = { sf_object: "Contact", fields: ["LastName", "FirstName"], delete_limit: "2" };
    await ask("POST", "/mappings", body);
    const mapping = async () => (await ask<readonly { id: string; state: string }[]>("GET", "/monitoring/mappings"))[0];
    await vi.waitFor(async () => expect((await mapping())?.state).toBe("running"), PATIENCE);
    await database.query("INSERT INTO tasks.contact (lastname) SELECT 'Guest ' || n FROM generate_series(1, 6) n");
    const rows = (where: string) => database.query(`SELECT lastname FROM tasks.contact WHERE ${where} ORDER BY 1`);
    await vi.waitFor(async () => expect((await rows("sfid IS NULL")).rows).toEqual([]), PATIENCE);
    await database.query("DELETE FROM tasks.contact");

    await click(link("Release or reject"));
    await sees("2 deletes sent in the last hour, 4 on hold");
    await sees("running, deletes on hold");
    expect(await seriousFindings(page)).toEqual([]);
    await button("Reject Guest 6 alone").waitFor();
    expect(await cutAt(page, 360)).toBe(false);
    await click(button("Reject Guest 6 alone"));
    await click(button("Reject and restore"));
    await sees("1 delete rejected");
    expect(clicks).toBeLessThanOrEqual(3);
    await sees("3 on hold");

    clicks = 0;
    await goTo(page, world, "/");
    await click(link("Release or reject"));
    await click(button("Release all 3"));
    await click(button("Release 3 deletes"));
    await sees("3 deletes released");
    expect(clicks).toBeLessThanOrEqual(3);
    const waiting = "SELECT count(*)::int AS changes FROM tasks._trigger_log WHERE processed_at IS NULL";
    await vi.waitFor(async () => expect((await database.query(waiting)).rows).toEqual([{ changes: 0 }]), PATIENCE);
    expect((await rows("true")).rows).toEqual([{ lastname: "Guest 6" }]);
  });

  test("decides after a restore how each row continues, in a group and alone", async () => {
    await ask("POST", "/mappings", { sf_object: "Lead", fields: ["LastName", "Company"] });
    const mapping = async () =>
      (await ask<readonly { id: string; sf_object: string; state: string }[]>("GET", "/monitoring/mappings")).find(
        ({ sf_object }) => sf_object === "Lead",
      );
    await vi.waitFor(async () => expect((await mapping())?.state).toBe("running"), PATIENCE);
    await ask("PUT", "/pause", { paused: true });
    await database.query(
      "INSERT INTO tasks.lead (lastname, company) VALUES ('Acme', 'A'), ('Base', 'B'), ('Core', 'C')",
    );
    await ask("POST", "/restore");
    await ask("PUT", "/pause", { paused: false });
    await vi.waitFor(async () => expect((await mapping())?.state).toBe("broken"), PATIENCE);

    await click(link("Lead"));
    await sees("3 rows:");
    expect(await seriousFindings(page)).toEqual([]);
    expect(await cutAt(page, 360)).toBe(false);
    const { rows: keys } = await database.query("SELECT id FROM tasks.lead WHERE lastname = 'Base'");
    await page.getByLabel(`Row ${keys[0]?.id}`, { exact: true }).selectOption("leave");
    await click(button("Accept the restore"));
    await click(button("Accept and send"));
    await sees("Lead sends again");
    expect(clicks).toBeLessThanOrEqual(3);

    const sent = async () =>
      (await database.query("SELECT lastname FROM tasks.lead WHERE sfid IS NOT NULL ORDER BY 1")).rows;
    await vi.waitFor(async () => expect(await sent()).toEqual([{ lastname: "Acme" }, { lastname: "Core" }]), PATIENCE);
    const waiting = await database.query(
      "SELECT state FROM tasks._trigger_log l WHERE table_name = 'lead' AND record_id = $1",
      [keys[0]?.id],
    );
    expect(waiting.rows).toEqual([{ state: "PENDING" }]);
    // The restore was of all mappings; the next tasks are about Contact.
    const contact = (await ask<readonly { id: string; sf_object: string }[]>("GET", "/monitoring/mappings")).find(
      ({ sf_object }) => sf_object === "Contact",
    );
    const accept = () => ask("POST", `/mappings/${contact?.id}/accept-restore`, {});
    await vi.waitFor(accept, PATIENCE);
    await ask("DELETE", `/mappings/${(await mapping())?.id}`);
  });

  test("finds why a row failed, corrects it where it is shown, and dismisses another", async () => {
    await database.query("INSERT INTO tasks.contact (lastname) VALUES ('Hopper'), (NULL)");
    await click(link("See why"));
    await click(button("Show rows"));
    const row = page.getByRole("row", { name: /id = \d+/ });
    await row.first().waitFor();
    const refused = page.getByLabel(/^lastname of row/);
    await refused.waitFor();
    const { rows: found } = await database.query("SELECT id FROM tasks.contact WHERE lastname IS NULL");
    await sees(`id = ${found[0]?.id}`);
    expect(await seriousFindings(page)).toEqual([]);
    await refused.fill("Lovelace");
    await click(button("Save and send"));
    await sees("No failed rows");
    expect(clicks).toBeLessThanOrEqual(3);
    const sent = await database.query(
      `SELECT lastname, sfid IS NOT NULL AS sent FROM tasks.contact WHERE id = ${found[0]?.id}`,
    );
    expect(sent.rows).toEqual([{ lastname: "Lovelace", sent: true }]);

    await database.query("INSERT INTO tasks.contact (lastname) VALUES (NULL)");
    await button("Show rows").click();
    await button(/^Dismiss row/).click();
    await sees("1 failure dismissed");
    await sees("No failed rows");
  });

  test("reads the story of one row on both sides, with the refusal that was repaired", async () => {
    const { rows: made } = await database.query("INSERT INTO tasks.contact (lastname) VALUES ('Noether') RETURNING id");
    const id = String(made[0]?.id);
    const stateOf = async () =>
      (await ask<readonly { state: string }[]>("GET", `/monitoring/activity?row=${id}`))[0]?.state;
    await vi.waitFor(async () => expect(await stateOf()).toBe("SUCCESS"), PATIENCE);
    await database.query(`UPDATE tasks.contact SET lastname = NULL WHERE id = ${id}`);
    await vi.waitFor(async () => expect(await stateOf()).toBe("FAILED"), PATIENCE);
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor();
    expect(await allFindings(page)).toEqual([]);
    expect(await cutAt(page, 360)).toBe(false);
    await page.keyboard.press("Escape");

    await click(button("Find a row"));
    await page.getByLabel("Record id, key or upsert value").fill(id);
    await click(button("Find"));
    await sees("Salesforce refuses the last change of this row");
    await sees("It takes a text of at most 80 characters, required.");
    expect(clicks).toBeLessThanOrEqual(2);
    expect(await allFindings(page)).toEqual([]);
    expect(await cutAt(page, 360)).toBe(false);

    await page.getByLabel(`lastname of row ${id}`).fill("Noether-Gordan");
    await click(button("Save and send"));
    await sees("Salesforce took it.");
    await sees("both sides equal");
    expect(clicks).toBeLessThanOrEqual(3);
    await sees(/^Salesforce refused it: REQUIRED_FIELD_MISSING/);
    expect(await link("Open in Salesforce").getAttribute("href")).toMatch(/lightning\/r\/Contact\/003/);
  });

  test("sees whether both sides are equal, and compares them now", async () => {
    const [mapping] = await ask<readonly { id: string }[]>("GET", "/monitoring/mappings");
    await goTo(page, world, `/mappings/${mapping?.id}`);
    await click(button("Compare now"));
    await sees(/^(?:Both sides equal\. )?\d+ rows?: \d+ equal, /);
    expect(clicks).toBeLessThanOrEqual(2);

    clicks = 0;
    await goTo(page, world, "/");
    await click(link("Mappings"));
    await sees(/^(?:Both sides equal\. )?\d+ rows?: \d+ equal, /);
    expect(await allFindings(page)).toEqual([]);
    expect(await cutAt(page, 360)).toBe(false);
    expect(clicks).toBeLessThanOrEqual(2);
  });

  test("understands a conflict and takes the other value", async () => {
    const [mapping] = await ask<readonly { id: string }[]>("GET", "/monitoring/mappings");
    await database.query(
      `INSERT INTO tasks._bridge_conflicts (mapping_id, sfid, record_id, field, base, postgres, salesforce, winner, at, postgres_at, salesforce_at)
       SELECT $1, sfid, id, 'firstname', NULL, 'Ours', firstname, 'salesforce', now(), now() - interval '9 s', now()
       FROM tasks.contact WHERE lastname = 'Hopper'`,
      [mapping?.id],
    );
    await click(link("Activity"));
    await click(link("Conflicts"));
    await sees("Salesforce wins");
    expect(await seriousFindings(page)).toEqual([]);
    await click(button(/^Use the other value/));

    await sees("The row has the other value now");
    expect(clicks).toBeLessThanOrEqual(3);
    const changed = "SELECT firstname FROM tasks.contact WHERE lastname = 'Hopper'";
    expect((await database.query(changed)).rows).toEqual([{ firstname: "Ours" }]);
  });

  test("connects a second object and sees its rows", async () => {
    await createAccount(world.bridge.org.connection, "Analytical Engines");
    await click(link("Mappings"));
    await click(button("New mapping"));
    await page.getByLabel("Object", { exact: true }).fill("Account");
    await click(page.getByRole("option", { name: /^Account/ }));
    await click(button("Create mapping"));
    await page.getByRole("heading", { name: "Account" }).waitFor();
    await page.getByText("running", { exact: true }).first().waitFor();

    expect(clicks).toBeLessThanOrEqual(6);
    const accounts = await database.query("SELECT name FROM tasks.account");
    expect(accounts.rows).toEqual([{ name: "Analytical Engines" }]);
  });

  test("sees what a mapping costs of the org's calls, and halves it", async () => {
    const costs = async () => {
      const mappings = await ask<{ sf_object: string; calls_per_day: number }[]>("GET", "/monitoring/mappings");
      return mappings.reduce((sum, { calls_per_day }) => sum + calls_per_day, 0);
    };
    const before = await costs();
    for (const object of ["Account", "Contact"]) {
      clicks = 0;
      await goTo(page, world, "/");
      await sees(/forecast [\d,]+ a day while nothing changes/);
      await click(page.getByRole("link", { name: object, exact: true }));
      await click(page.getByRole("button", { name: "Change", exact: true }));
      const interval = page.getByLabel("Read Salesforce every (seconds)");
      await interval.fill("30");
      await sees("All mappings together");
      await click(button("Save changes"));
      await sees(`${object} is changed`);
      expect(clicks).toBeLessThanOrEqual(3);
    }

    expect([before, await costs()]).toEqual([8_646, 2_886]);
  });

  test("limits what Bridge may use of the org's calls, beside what they cost now and with doorbells", async () => {
    const { with_doorbells: rung } = await ask<{ with_doorbells: { calls_per_day: number } }>(
      "GET",
      "/monitoring/budget",
    );
    await click(link("API calls"));
    await sees(`${rung.calls_per_day.toLocaleString("en")} a day while nothing changes and all of them work`);
    await page.getByLabel("Most calls per day").fill("2000");
    await page.getByLabel("Mappings without changes for five minutes").selectOption("60");
    await click(page.getByRole("button", { name: "Save", exact: true }));
    await sees("The share is changed");
    await sees(/of 2,000 that its share allows/);
    expect(clicks).toBeLessThanOrEqual(2);

    expect(await ask("GET", "/monitoring/budget")).toMatchObject({
      most_calls: 2000,
      when_quiet_seconds: 60,
    });
    await ask("PATCH", "/monitoring/budget", { most_calls: null, when_quiet_seconds: null });
  });

  test("registers a webhook and sees its first delivery arrive", async () => {
    await click(link("Webhooks"));
    await click(link("New webhook"));
    await page.getByLabel("URL").fill(`${world.receiver.url}/tasks`);
    await click(button("Create webhook"));
    await sees(/^whsec_/);
    await click(link("I have kept it"));
    await click(button("Send a test"));
    await page.getByText("successful", { exact: true }).waitFor();

    expect(clicks).toBeLessThanOrEqual(5);
    expect(world.receiver.received).toHaveLength(1);
  });

  test("exports the configuration and imports it changed, by its plan", async () => {
    await click(link("Configuration"));
    const download = page.waitForEvent("download");
    await click(button("Download"));
    const file = await (await download).path();
    const document = JSON.parse(readFileSync(file, "utf8")) as {
      mappings: { object_name: string; config: { sf_polling_seconds: number } }[];
    };
    for (const { config } of document.mappings) config.sf_polling_seconds = 60;
    await click(link("Import"));
    const chooser = page.waitForEvent("filechooser");
    await click(page.getByLabel(/^A file/));
    const changed = {
      name: "changed.json",
      mimeType: "application/json",
      buffer: Buffer.from(JSON.stringify(document)),
    };
    await (await chooser).setFiles(changed);
    await sees("~ sf_polling_seconds: 30 → 60");
    await click(button("Import"));
    await sees("The configuration is imported");

    expect(clicks).toBeLessThanOrEqual(5);
    const mappings = await ask<{ sf_polling_seconds: number }[]>("GET", "/monitoring/mappings");
    expect(mappings.map(({ sf_polling_seconds }) => sf_polling_seconds)).toEqual([60, 60]);
  });

  test("stops everything, sees on every page why nothing moves, and lets it continue", async () => {
    await click(link("Mappings"));
    await click(button("Pause all"));
    await page.getByLabel("Reason").fill("the org moves");
    expect(await seriousFindings(page)).toEqual([]);
    await click(button("Pause now"));
    await sees(/^Paused since .* by owner@example.com: the org moves/);
    expect(clicks).toBeLessThanOrEqual(3);
    await database.query("INSERT INTO tasks.contact (lastname) VALUES ('Somerville')");
    await goTo(page, world, "/webhooks");
    await sees(/^Paused since/);

    await fleetOf(world, workspace.id);
    await click(button("Resume"));
    await page.getByText(/^Paused since/).waitFor({ state: "detached" });
    const sent = "SELECT sfid IS NOT NULL AS sent FROM tasks.contact WHERE lastname = 'Somerville'";
    await vi.waitFor(async () => expect((await database.query(sent)).rows).toEqual([{ sent: true }]), PATIENCE);
  });
});

/** Makes a record as a colleague in Salesforce does. */
async function createAccount({ loginUrl, credentials }: SalesforceConnection, Name: string): Promise<void> {
  if (credentials.kind !== "password") throw new Error("the local org is connected by password");
  const { clientId, clientSecret, username, password } = credentials;
  const asked = { grant_type: "password", client_id: clientId, client_secret: clientSecret, username, password };
  const signedOn = await fetch(`${loginUrl}/services/oauth2/token`, {
    method: "POST",
    body: new URLSearchParams(asked),
  });
  const { access_token, instance_url } = (await signedOn.json()) as { access_token: string; instance_url: string };
  keepSecret(access_token);
  const headers = { authorization: `Bearer ${access_token}`, "content-type": "application/json" };
  const made = { method: "POST", headers, body: JSON.stringify({ Name }) };
  expect((await fetch(`${instance_url}/services/data/v66.0/sobjects/Account`, made)).status).toBe(201);
}

/** What an operator sees meanwhile: the fleet, where the workspace is paused, and no place that is not theirs. */
async function fleetOf(world: ConsoleWorld, workspaceId: string): Promise<void> {
  const owner = "oncall@example.com";
  await ensureDeployment(workspaces(), owner, now());
  const by = { workspaceId: "deployment", name: "operator", owner, actor: owner, validUntil: null, at: now() };
  const { token } = await createToken({ tokens: tokens(), pepper: pepper() }, { ...by, scopes: ["admin"] });
  const context = await world.browser.newContext({ viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  await page.goto(`${world.bridge.baseUrl}/#/sign-in?workspace=deployment&token=${token}`);
  await page.getByRole("heading", { name: "Fleet" }).waitFor();
  const row = page.getByRole("row", { name: new RegExp(workspaceId) });
  await row.getByText("paused", { exact: true }).waitFor();
  await row.getByText(/by owner@example.com, .*: the org moves/).waitFor();
  expect(await allFindings(page)).toEqual([]);
  const places = await page.getByRole("navigation", { name: "Places" }).first().getByRole("link").allInnerTexts();
  expect(places).toEqual(["Fleet", "Tokens", "Audit log"]);
  for (const width of [1024, 360]) expect(await cutAt(page, width)).toBe(false);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await allFindings(page)).toEqual([]);
  await context.close();
}

/** Whether the page or one of its lists has to be scrolled sideways on so many pixels. */
async function cutAt(page: Page, width: number): Promise<boolean> {
  const before = page.viewportSize();
  await page.setViewportSize({ width, height: 740 });
  const isCut = await page.evaluate(
    "[document.documentElement, ...document.querySelectorAll('.list')].some((one) => one.scrollWidth > one.clientWidth)",
  );
  if (before) await page.setViewportSize(before);
  return isCut === true;
}
