import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { now, pepper, tokens, workspaces } from "../../functions/services/composition.ts";
import { ensureDeployment } from "../../lib/access/bootstrap.ts";
import { createToken } from "../../lib/access/create-token.ts";
import { allFindings, findChromium, sayWithoutChromium, seriousFindings } from "../support/clients/browser.ts";
import { PATIENCE, startUser, type User } from "./user.ts";
import type { ConsoleWorld } from "./world.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 300_000 });

sayWithoutChromium();

describe.skipIf(findChromium() === undefined)("in few clicks, a user", () => {
  let user: User;

  beforeAll(async () => {
    user = await startUser("decisions");
  });
  afterAll(() => user?.close());

  test("rotates a token, and cannot leave the step that shows it by Escape or a click outside", async () => {
    const { ask, begin, button, click, clicks, link, page, sees } = user;
    await begin("/");
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
    expect(await clicks()).toBeLessThanOrEqual(5); // with the one outside
    const tokens = await ask<{ name: string; state: string; valid_until: string | null }[]>("GET", "/tokens");
    const workers = tokens.filter(({ name }) => name === "worker");
    expect(workers.map(({ state, valid_until }) => [state, valid_until === null])).toEqual([
      ["valid", true],
      ["valid", false],
    ]);
  });

  test("sees which deletes are on hold, rejects one of them and releases the others", async () => {
    const { ask, begin, button, click, clicks, database, link, page, sees } = user;
    await begin("/");
    const body = { sf_object: "Contact", fields: ["LastName", "FirstName"], delete_limit: "2" };
    await ask("POST", "/mappings", body);
    const mapping = async () => (await ask<readonly { id: string; state: string }[]>("GET", "/monitoring/mappings"))[0];
    await vi.waitFor(async () => expect((await mapping())?.state).toBe("running"), PATIENCE);
    await database.query("INSERT INTO decisions.contact (lastname) SELECT 'Guest ' || n FROM generate_series(1, 6) n");
    const rows = (where: string) => database.query(`SELECT lastname FROM decisions.contact WHERE ${where} ORDER BY 1`);
    await vi.waitFor(async () => expect((await rows("sfid IS NULL")).rows).toEqual([]), PATIENCE);
    await database.query("DELETE FROM decisions.contact");

    await click(link("Release or reject"));
    await sees("2 deletes sent in the last hour, 4 on hold");
    await sees("running, deletes on hold");
    expect(await seriousFindings(page)).toEqual([]);
    await button("Reject Guest 6 alone").waitFor();
    expect(await cutAt(page, 360)).toBe(false);
    await click(button("Reject Guest 6 alone"));
    await click(button("Reject and restore"));
    await sees("1 delete rejected");
    expect(await clicks()).toBeLessThanOrEqual(3);
    await sees("3 on hold");

    await begin("/");
    await click(link("Release or reject"));
    await click(button("Release all 3"));
    await click(button("Release 3 deletes"));
    await sees("3 deletes released");
    expect(await clicks()).toBeLessThanOrEqual(3);
    const waiting = "SELECT count(*)::int AS changes FROM decisions._trigger_log WHERE processed_at IS NULL";
    await vi.waitFor(async () => expect((await database.query(waiting)).rows).toEqual([{ changes: 0 }]), PATIENCE);
    expect((await rows("true")).rows).toEqual([{ lastname: "Guest 6" }]);
  });

  test("decides after a restore how each row continues, in a group and alone", async () => {
    const { ask, begin, button, click, clicks, database, link, page, sees } = user;
    await begin("/");
    await ask("POST", "/mappings", { sf_object: "Account", fields: ["Name", "Phone"] });
    const mapping = async () =>
      (await ask<readonly { sf_object: string; state: string }[]>("GET", "/monitoring/mappings")).find(
        ({ sf_object }) => sf_object === "Account",
      );
    await vi.waitFor(async () => expect((await mapping())?.state).toBe("running"), PATIENCE);
    await ask("PUT", "/pause", { paused: true });
    await database.query("INSERT INTO decisions.account (name) VALUES ('Acme'), ('Base'), ('Core')");
    await ask("POST", "/restore");
    await ask("PUT", "/pause", { paused: false });
    await vi.waitFor(async () => expect((await mapping())?.state).toBe("broken"), PATIENCE);

    await click(link("Account"));
    await sees("3 rows:");
    expect(await seriousFindings(page)).toEqual([]);
    expect(await cutAt(page, 360)).toBe(false);
    const { rows: keys } = await database.query("SELECT id FROM decisions.account WHERE name = 'Base'");
    await page.getByLabel(`Row ${keys[0]?.id}`, { exact: true }).selectOption("leave");
    await click(button("Accept the restore"));
    await click(button("Accept and send"));
    await sees("Account sends again");
    expect(await clicks()).toBeLessThanOrEqual(4);

    const sent = async () =>
      (await database.query("SELECT name FROM decisions.account WHERE sfid IS NOT NULL ORDER BY 1")).rows;
    await vi.waitFor(async () => expect(await sent()).toEqual([{ name: "Acme" }, { name: "Core" }]), PATIENCE);
    const waiting = await database.query(
      "SELECT state FROM decisions._trigger_log WHERE table_name::text = 'account' AND record_id = $1",
      [keys[0]?.id],
    );
    expect(waiting.rows).toEqual([{ state: "PENDING" }]);
    // The restore was of all mappings; the next tasks are about Contact.
    const contact = (await ask<readonly { id: string; sf_object: string }[]>("GET", "/monitoring/mappings")).find(
      ({ sf_object }) => sf_object === "Contact",
    );
    const accept = () => ask("POST", `/mappings/${contact?.id}/accept-restore`, {});
    await vi.waitFor(accept, PATIENCE);
  });

  test("dismisses the failure of a row", async () => {
    const { begin, button, click, clicks, database, link, page, sees } = user;
    await begin("/");
    await database.query("INSERT INTO decisions.contact (lastname) VALUES ('Hopper'), (NULL)");
    await click(link("See why"));
    await click(button("Show rows"));
    await page.getByLabel(/^lastname of row/).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await click(button(/^Dismiss row/));
    await sees("1 failure dismissed");
    await sees("No failed rows");
    expect(await clicks()).toBeLessThanOrEqual(3);
  });

  test("reads the story of one row on both sides, with the refusal that was repaired", async () => {
    const { ask, begin, button, click, clicks, database, link, page, sees } = user;
    await begin("/");
    const { rows: made } = await database.query(
      "INSERT INTO decisions.contact (lastname) VALUES ('Noether') RETURNING id",
    );
    const id = String(made[0]?.id);
    const stateOf = async () =>
      (await ask<readonly { state: string }[]>("GET", `/monitoring/activity?row=${id}`))[0]?.state;
    await vi.waitFor(async () => expect(await stateOf()).toBe("SUCCESS"), PATIENCE);
    await database.query(`UPDATE decisions.contact SET lastname = NULL WHERE id = ${id}`);
    await vi.waitFor(async () => expect(await stateOf()).toBe("FAILED"), PATIENCE);

    await click(button(/^Find …/));
    await page.getByRole("combobox", { name: "Find a row" }).fill(id);
    await click(page.getByRole("option", { name: new RegExp(`^Row ${id} ?contact`) }));
    await sees("Salesforce refuses the last change of this row");
    await sees("It takes a text of at most 80 characters, required.");
    expect(await clicks()).toBeLessThanOrEqual(2);
    expect(await allFindings(page)).toEqual([]);
    expect(await cutAt(page, 360)).toBe(false);

    await page.getByLabel(`lastname of row ${id}`).fill("Noether-Gordan");
    await click(button("Save and send"));
    await sees("Salesforce took it.");
    await sees("both sides equal");
    expect(await clicks()).toBeLessThanOrEqual(3);
    await sees(/^Salesforce refused it: REQUIRED_FIELD_MISSING/);
    expect(await link("Open in Salesforce").getAttribute("href")).toMatch(/lightning\/r\/Contact\/003/);
  });

  test("understands a conflict and takes the other value", async () => {
    const { ask, begin, button, click, clicks, database, link, page, sees } = user;
    await begin("/");
    const mappings = await ask<readonly { id: string; sf_object: string }[]>("GET", "/monitoring/mappings");
    const mapping = mappings.find(({ sf_object }) => sf_object === "Contact");
    await database.query(
      `INSERT INTO decisions._bridge_conflicts (mapping_id, sfid, record_id, field, base, postgres, salesforce, winner, at, postgres_at, salesforce_at)
       SELECT $1, sfid, id, 'firstname', NULL, 'Ours', firstname, 'salesforce', now(), now() - interval '9 s', now()
       FROM decisions.contact WHERE lastname = 'Hopper'`,
      [mapping?.id],
    );
    await click(link("Activity"));
    await click(link("Conflicts"));
    await sees("Salesforce wins");
    expect(await seriousFindings(page)).toEqual([]);
    await click(button(/^Use the other value/));

    await sees("The row has the other value now");
    expect(await clicks()).toBeLessThanOrEqual(3);
    const changed = "SELECT firstname FROM decisions.contact WHERE lastname = 'Hopper'";
    expect((await database.query(changed)).rows).toEqual([{ firstname: "Ours" }]);
  });

  test("sees what a mapping costs of the org's calls, and halves it", async () => {
    const { ask, begin, button, click, clicks, page, sees } = user;
    await begin("/");
    const costs = async () => {
      const mappings = await ask<{ sf_object: string; calls_per_day: number }[]>("GET", "/monitoring/mappings");
      return mappings.reduce((sum, { calls_per_day }) => sum + calls_per_day, 0);
    };
    const before = await costs();
    for (const object of ["Account", "Contact"]) {
      await begin("/");
      await sees(/forecast [\d,]+ a day while nothing changes/);
      await click(page.getByRole("link", { name: object, exact: true }));
      await click(page.getByRole("button", { name: "Change", exact: true }));
      const interval = page.getByLabel("Read Salesforce every (seconds)");
      await interval.fill("30");
      await sees("All mappings together");
      await click(button("Save changes"));
      await sees(`${object} is changed`);
      expect(await clicks()).toBeLessThanOrEqual(3);
    }

    expect([before, await costs()]).toEqual([8_646, 2_886]);
  });

  test("limits what Bridge may use of the org's calls, beside what they cost now and with doorbells", async () => {
    const { ask, begin, click, clicks, link, page, sees } = user;
    await begin("/");
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
    // The next count of the org's calls makes it the plan, and the page asks every half minute.
    await page.getByText(/of 2,000 that its share allows/).waitFor({ timeout: 150_000 });
    expect(await clicks()).toBeLessThanOrEqual(3);

    expect(await ask("GET", "/monitoring/budget")).toMatchObject({
      most_calls: 2000,
      when_quiet_seconds: 60,
    });
    await ask("PATCH", "/monitoring/budget", { most_calls: null, when_quiet_seconds: null });
  });

  test("of the operators sees the fleet, where a workspace is paused, and no place that is not theirs", async () => {
    const { ask, begin, sees, workspace, world } = user;
    await begin("/");
    await ask("PUT", "/pause", { paused: true, reason: "the org moves" });
    await begin("/webhooks");
    await sees(/^Paused since/);

    await fleetOf(world, workspace.id);
  });
});

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
