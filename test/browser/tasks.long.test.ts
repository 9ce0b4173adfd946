import { Client } from "pg";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { findChromium, sayWithoutChromium, seriousFindings } from "../support/clients/browser.ts";
import { dataOf } from "../support/clients/data-of.ts";
import type { TestWorkspace } from "../support/worlds/workspace.ts";
import { type ConsoleWorld, goTo, signedIn, startConsoleWorld } from "./world.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 300_000 });

/** Far more than it takes, so that a busy machine fails nothing. */
const PATIENCE = 200_000;

sayWithoutChromium();

describe.skipIf(findChromium() === undefined)("in few clicks, somebody", () => {
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
    await click(page.getByRole("checkbox", { name: "Choose Guest 6" }));
    await click(button("Reject 1"));
    await click(button("Reject and restore"));
    await sees("1 delete rejected");
    expect(clicks).toBeLessThanOrEqual(4); // one of them is the choice
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

  test("finds why a row failed, repairs it by one line of SQL, and dismisses another", async () => {
    await database.query("INSERT INTO tasks.contact (lastname) VALUES ('Hopper'), (NULL)");
    await click(link("See why"));
    await click(button("Show rows"));
    const row = page.getByRole("row", { name: /id = \d+/ });
    await row.first().waitFor();
    await page.getByText("lastname", { exact: true }).first().waitFor();
    const { rows: found } = await database.query("SELECT id FROM tasks.contact WHERE lastname IS NULL");
    await sees(`id = ${found[0]?.id}`);
    expect(await seriousFindings(page)).toEqual([]);
    expect(clicks).toBeLessThanOrEqual(4);

    await database.query("UPDATE tasks.contact SET lastname = 'Lovelace' WHERE lastname IS NULL");
    await sees("No row has failed");

    await database.query("INSERT INTO tasks.contact (lastname) VALUES (NULL)");
    await button("Show rows").click();
    await button(/^Dismiss row/).click();
    await sees("1 failure dismissed");
    await sees("No row has failed");
  });

  test("understands a conflict and turns it", async () => {
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
});
