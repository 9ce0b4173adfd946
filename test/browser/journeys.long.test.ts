import { expect, test } from "vitest";
import { complaintsOf } from "../support/clients/browser.ts";
import { createTestWorkspace } from "../support/worlds/workspace.ts";
import { consoleUser, goTo, inBrowser, signedIn } from "./world.ts";

inBrowser("in a browser, a user", () => {
  const user = consoleUser("console", createTestWorkspace);
  let complaints: readonly string[];

  test("comes with a token and an empty workspace, and sees the first row arrive in Salesforce", async () => {
    const { button, label, link, page, sees, sql, workspace, world } = user;
    complaints = complaintsOf(page.context());
    await page.goto(`${world.bridge.baseUrl}/#/sign-in?workspace=${workspace.id}&token=brg_a_mistake`);
    await sees("This token is not valid");
    await goTo(page, world, "/");
    await label("Workspace").fill(workspace.id);
    await label("API token").fill(workspace.token);
    await button("Sign in").click();
    await link("To the connections").click();

    await label("Database URL").fill(world.bridge.database.url);
    await label(/^Schema/).fill("console");
    await button("Connect database").click();
    await sees("The database is connected");

    const { loginUrl, credentials } = world.bridge.org.connection;
    if (credentials.kind !== "password") throw new Error("the local org is connected by password");
    await label("How to sign in").selectOption("password");
    await label("Login URL").fill(loginUrl);
    await label("Consumer key").fill(credentials.clientId);
    await label("Consumer secret").fill(credentials.clientSecret);
    await label("User name").fill(credentials.username);
    await label("Password").fill(credentials.password);
    await button("Connect org").click();
    await sees("The org is connected");

    await link("Overview").first().click();
    await link("New mapping").click();
    await label("Object").fill("Contact");
    const option = page.getByRole("option", { name: /^Contact/ });
    await option.first().click();
    const email = page.getByRole("checkbox", { name: /^Email/ });
    await email.first().check();
    await button("Create mapping").click();
    await page.getByRole("heading", { name: "Contact" }).waitFor();
    await page.getByText("running", { exact: true }).first().waitFor();

    await sql("INSERT INTO console.contact (lastname, email) VALUES ('Lovelace', 'ada@example.com')");
    await link("Activity").first().click();
    await page.getByRole("cell", { name: "SUCCESS" }).first().waitFor();
    await user.click(link(/insert contact/));
    await sees("Lovelace");
    const [row] = await sql("SELECT sfid FROM console.contact");

    await sees(String(row?.["sfid"]));
    expect(row?.["sfid"]).toMatch(/^003/);
  });

  test("connects the org again by signing in there with the browser, and comes back", async () => {
    const { button, label, link, page, sees, world } = user;
    const { loginUrl, credentials } = world.bridge.org.connection;
    if (!("clientSecret" in credentials)) throw new Error("the local org is connected by an app with a secret");
    await user.begin("/connections");
    await button("Connect another org").click();
    await label("Login URL").fill(loginUrl);
    await label("Consumer key").fill(credentials.clientId);
    await label("Consumer secret").fill(credentials.clientSecret ?? "");
    await button("Continue at Salesforce").click();
    await sees("The org is connected.");
    await link("To the connections").click();

    await sees("refresh token");
    await button("Check").last().click();

    await label("in order").first().waitFor();
    expect(await label("not in order").count()).toBe(0);
    expect(page.url()).not.toContain("code=");
  });

  test("makes a token that may only look, sees what it may, and revokes it", async () => {
    const { button, label, page, sees, workspace, world } = user;
    await user.begin("/tokens");
    await button("New token").click();
    await label(/^Name/).fill("Wallboard");
    await button("Create token").click();
    const token = (await page.getByText(/^brg_r/).textContent()) ?? "";
    await button("I have kept it").click();

    const other = await signedIn(await world.browser.newContext(), world, { id: workspace.id, token });
    await goTo(other, world, "/connections");
    await other.getByText("Connections need a token with the scope admin").waitFor();
    await goTo(other, world, "/webhooks");
    await other.getByRole("button", { name: "New webhook" }).waitFor();
    expect(await other.evaluate("localStorage.getItem('bridge.session')")).toBeNull();
    await goTo(other, world, "/activity");
    await other.getByRole("cell", { name: "SUCCESS" }).first().waitFor();

    await button("Revoke Wallboard").click();
    await button("Revoke token").click();

    await sees("Wallboard is revoked");
    await other.getByText("The token is no longer valid").waitFor({ timeout: 300_000 });
    await other.context().close();
  });

  test("meets no script that threw and nothing that the policy refused", () => {
    expect(complaints).toEqual([]);
  });
});
