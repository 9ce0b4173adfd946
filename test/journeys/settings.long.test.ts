import { Client } from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { bridgeAsk } from "../programs/ask.ts";
import { openColleague } from "../support/clients/colleague.ts";
import { startReceiver } from "../support/doubles/receiver.ts";
import { startRunningBridge } from "../support/worlds/running-bridge.ts";
import { createTestWorkspace } from "../support/worlds/workspace.ts";

/** Far more than it takes, so that a busy machine fails nothing. */
const SOON = { timeout: 300_000, interval: 250 };

test("from nothing to rows that travel both ways, by HTTP alone", async () => {
  const [bridge, receiver] = await Promise.all([startRunningBridge(), startReceiver(200)]);
  onTestFinished(bridge.close);
  onTestFinished(receiver.close);
  const ask = bridgeAsk(bridge.baseUrl, await createTestWorkspace());
  const database = new Client({ connectionString: bridge.database.url });
  await database.connect();
  onTestFinished(() => database.end());

  await ask("PUT", "/connections/postgres", { url: bridge.database.url, schema: "by_http" });
  const { loginUrl: login_url, credentials } = bridge.org.connection;
  if (credentials.kind !== "password") throw new Error("the local org is connected by password");
  const { clientId: client_id, clientSecret: client_secret, ...user } = credentials;
  await ask("PUT", "/connections/salesforce", { login_url, credentials: { client_id, client_secret, ...user } });
  const objects = await ask<{ name: string }[]>("GET", "/objects");
  expect(objects.map(({ name }) => name)).toEqual(expect.arrayContaining(["Account", "Contact", "Lead"]));

  for (const [sf_object, ...fields] of [
    ["Contact", "LastName"],
    ["Account", "Name"],
  ])
    await ask("POST", "/mappings", { sf_object, fields });
  await vi.waitFor(async () => {
    const mappings = await ask<{ state: string }[]>("GET", "/monitoring/mappings");
    expect(mappings.map(({ state }) => state)).toEqual(["running", "running"]);
  }, SOON);

  const webhook = await ask<{ id: string; secret: string }>("POST", "/webhooks", {
    url: receiver.url,
    events: ["sync.broken"],
  });
  expect(webhook.secret).toMatch(/^whsec_/);
  await ask("POST", `/webhooks/${webhook.id}/test`);
  await receiver.has(1);
  for (const scope of ["read", "operate", "admin"]) {
    const body = { name: scope, owner: "ada@example.com", scopes: [scope] };
    expect((await ask<{ token: string }>("POST", "/tokens", body)).token).toMatch(`brg_${scope.charAt(0)}`);
  }

  await database.query("INSERT INTO by_http.contact (lastname) VALUES ('From here')");
  await vi.waitFor(async () => {
    const [change] = await ask<{ state: string }[]>("GET", "/monitoring/activity?table=contact");
    expect(change?.state).toBe("SUCCESS");
  }, SOON);
  const { rows } = await database.query("SELECT sfid FROM by_http.contact");
  expect(rows).toEqual([{ sfid: expect.stringMatching(/^003/) }]);

  const colleague = await openColleague(bridge.org.connection);
  await colleague("POST", "/sobjects/Account", { Name: "Of the org" });
  await vi.waitFor(async () => {
    const found = await database.query("SELECT name FROM by_http.account WHERE name = 'Of the org'");
    expect(found.rows).toHaveLength(1);
  }, SOON);

  const audited = await ask<{ action: string }[]>("GET", "/audit-log?limit=100");
  expect(audited.map(({ action }) => action)).toEqual(
    expect.arrayContaining([
      ...["connection.postgres_changed", "connection.salesforce_authorized", "mapping.created"],
      ...["webhook.created", "webhook.tested", "token.created"],
    ]),
  );
});
