import { expect, test, vi } from "vitest";
import { operatorsWorkspace } from "../support/worlds/workspace.ts";
import { consoleUser, hasNoFindings, inBrowser, PATIENCE } from "./world.ts";

inBrowser("in few clicks, a user", () => {
  const user = consoleUser("decisions");
  let contact: string;

  test("rotates a token, and cannot leave the step that shows it by Escape or a click outside", async () => {
    const { ask, begin, button, click, clicks, link, page, sees } = user;
    await begin("/");
    await ask("POST", "/tokens", { name: "worker", owner: "ada@example.com", scopes: ["operate"] });
    await click(link("Tokens"));
    await click(button("Rotate worker"));
    await click(button("Make the new token"));
    const token = (await page.getByText(/^brg_o/).textContent()) ?? "";

    await page.keyboard.press("Escape");
    await page.mouse.click(5, 5);
    expect(await page.getByText(token).count()).toBe(1);
    expect(await page.getByRole("dialog").getByRole("button", { name: "Close" }).count()).toBe(0);
    await click(button("I have kept it"));

    await sees("worker is rotated");
    expect(await clicks()).toBeLessThanOrEqual(5); // with the one outside
    const tokens = await ask<{ name: string; state: string; valid_until: string | null }[]>("GET", "/tokens");
    const workers = tokens.filter(({ name, state }) => name === "worker" && state === "valid");
    expect(workers.map(({ valid_until }) => valid_until === null)).toEqual([true, false]);
  });

  test("sees which deletes are on hold, rejects one of them and releases the others", async () => {
    const { begin, button, click, clicks, link, sees, settled, sql } = user;
    contact = await user.maps({ sf_object: "Contact", fields: ["LastName", "FirstName"], delete_limit: "2" });
    await sql("INSERT INTO decisions.contact (lastname) SELECT 'Guest ' || n FROM generate_series(1, 6) n");
    await settled();
    await sql("DELETE FROM decisions.contact");

    await begin("/");
    await click(link("Release or reject"));
    await sees("2 deletes sent in the last hour, 4 on hold");
    await sees("running, deletes on hold");
    await button("Reject Guest 6 alone").waitFor();
    await user.hasNoFindings();
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
    await settled();
    expect(await sql("SELECT lastname FROM decisions.contact")).toEqual([{ lastname: "Guest 6" }]);
  });

  test("decides after a restore how each row continues, in a group and alone", async () => {
    const { ask, begin, button, click, clicks, label, link, maps, sees, sql } = user;
    await maps({ sf_object: "Account", fields: ["Name", "Phone"] });
    await ask("PUT", "/pause", { paused: true });
    await sql("INSERT INTO decisions.account (name) VALUES ('Acme'), ('Base'), ('Core')");
    await ask("POST", "/restore");
    await ask("PUT", "/pause", { paused: false });

    await begin("/");
    await click(link("Account"));
    await sees("3 rows:");
    await user.hasNoFindings();
    const [base] = await sql("SELECT id FROM decisions.account WHERE name = 'Base'");
    await label(`Row ${base?.["id"]}`).selectOption("leave");
    await click(button("Accept the restore"));
    await click(button("Accept and send"));
    await sees("Account sends again");
    expect(await clicks()).toBeLessThanOrEqual(4);

    const sent = () => sql("SELECT name FROM decisions.account WHERE sfid IS NOT NULL ORDER BY 1");
    await vi.waitFor(async () => expect(await sent()).toEqual([{ name: "Acme" }, { name: "Core" }]), PATIENCE);
    const ofBase = `table_name::text = 'account' AND record_id = ${base?.["id"]}`;
    expect(await sql(`SELECT state FROM decisions._trigger_log WHERE ${ofBase}`)).toEqual([{ state: "PENDING" }]);
    // The restore was of all mappings; the next tasks are about Contact.
    await vi.waitFor(() => ask("POST", `/mappings/${contact}/accept-restore`, {}), PATIENCE);
  });

  test("understands a conflict and takes the other value", async () => {
    const { begin, button, click, clicks, link, sees, sql } = user;
    await sql(
      `INSERT INTO decisions._bridge_conflicts (mapping_id, sfid, record_id, field, base, postgres, salesforce, winner, at, postgres_at, salesforce_at)
       SELECT '${contact}', sfid, id, 'firstname', NULL, 'Ours', firstname, 'salesforce', now(), now() - interval '9 s', now()
       FROM decisions.contact WHERE lastname = 'Guest 6'`,
    );
    await begin("/");
    await click(link("Activity"));
    await click(link("Conflicts"));
    await sees("Salesforce wins");
    await click(button(/^Use the other value/));

    await sees("The row has the other value now");
    expect(await clicks()).toBeLessThanOrEqual(3);
    const changed = await sql("SELECT firstname FROM decisions.contact WHERE lastname = 'Guest 6'");
    expect(changed).toEqual([{ firstname: "Ours" }]);
  });

  test("of the operators sees the fleet, where a workspace is paused, and no place that is not theirs", async () => {
    const { ask, begin, context, sees, workspace, world } = user;
    await ask("PUT", "/pause", { paused: true, reason: "the org moves" });
    await begin("/webhooks");
    await sees(/^Paused since/);

    const { id, token } = await operatorsWorkspace();
    const page = await (await context()).newPage();
    await page.goto(`${world.bridge.baseUrl}/#/sign-in?workspace=${id}&token=${token}`);
    await page.getByRole("heading", { name: "Fleet" }).waitFor();
    const row = page.getByRole("row", { name: new RegExp(workspace.id) });
    await row.getByText("paused", { exact: true }).waitFor();
    await row.getByText(/by owner@example.com, .*: the org moves/).waitFor();
    const places = await page.getByRole("navigation", { name: "Places" }).first().getByRole("link").allInnerTexts();
    expect(places).toEqual(["Fleet", "Tokens", "Audit log"]);
    await hasNoFindings(page);
  });
});
