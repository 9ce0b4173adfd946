import { Client } from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { openColleague } from "../support/clients/colleague.ts";
import { byCommandLine, byHttp } from "../support/clients/settings-client.ts";
import { startReceiver } from "../support/doubles/receiver.ts";
import { startRunningBridge } from "../support/worlds/running-bridge.ts";

/** Far more than it takes, so that a busy machine fails nothing. */
const SOON = { timeout: 300_000, interval: 250 };

/** As Heroku Connect exports it (heroku-connect-facts 2.1). */
const HEROKU_CONNECT = {
  version: 1,
  connection: { app_name: "acme", organization_id: "00D000000000000" },
  mappings: [
    {
      object_name: "Opportunity",
      config: {
        access: "read_only",
        sf_notify_enabled: false,
        sf_polling_seconds: 600,
        sf_max_daily_api_calls: 30_000,
        applied_at: "2023-02-14T01:40:34.070538Z",
        fields: { Id: {}, IsDeleted: {}, SystemModstamp: {}, Name: {}, StageName: {} },
      },
    },
  ],
};

test.each([
  ["the command line", byCommandLine, "by_cli"],
  ["HTTP", byHttp, "by_http"],
])("from nothing to rows that travel both ways, by %s alone", async (_, open, schema) => {
  const bridge = await startRunningBridge();
  onTestFinished(() => bridge.close());
  const receiver = await startReceiver(200);
  onTestFinished(() => receiver.close());
  const client = await open(bridge);
  const database = new Client({ connectionString: bridge.database.url });
  await database.connect();
  onTestFinished(async () => {
    await database.end();
    client.close();
  });

  await client.connectPostgres(bridge.database.url, schema);
  await client.connectSalesforce(bridge.org.connection);
  expect(await client.objects()).toEqual(expect.arrayContaining(["Account", "Contact", "Lead"]));

  await client.createMapping("Contact", ["LastName", "Email"]);
  await client.createMapping("Account", ["Name"]);
  await client.createMapping("Lead", ["LastName", "Company"]);
  await vi.waitFor(async () => {
    expect(await client.states()).toEqual({ Account: "running", Contact: "running", Lead: "running" });
  }, SOON);

  const webhook = await client.createWebhook(receiver.url);
  expect(webhook.secret).toMatch(/^whsec_/);
  await client.testWebhook(webhook.id);
  await receiver.has(1);

  for (const scope of ["read", "operate", "admin"]) {
    expect(await client.createToken(scope)).toMatch(new RegExp(`^brg_${scope.charAt(0)}`));
  }

  await database.query(`INSERT INTO ${schema}.contact (lastname) VALUES ('From ${schema}')`);
  await vi.waitFor(async () => {
    await client.poll("Contact").catch(() => undefined);
    expect(await client.activity("contact")).toContain("SUCCESS");
  }, SOON);
  const { rows } = await database.query(`SELECT sfid FROM ${schema}.contact WHERE lastname = 'From ${schema}'`);
  expect(rows[0]?.sfid).toMatch(/^003/);

  const colleague = await openColleague(bridge.org.connection);
  await colleague("POST", "/sobjects/Account", { Name: `Of the org, ${schema}` });
  await vi.waitFor(async () => {
    const found = await database.query(`SELECT name FROM ${schema}.account WHERE name = 'Of the org, ${schema}'`);
    expect(found.rows).toHaveLength(1);
  }, SOON);

  expect(await client.importDryRun(HEROKU_CONNECT)).toMatchObject({ created: 1, updated: 0, skipped: 0 });
  expect(await client.import(HEROKU_CONNECT)).toMatchObject({ created: 1, updated: 0 });
  const { mappings } = await client.exported();
  expect(mappings.map(({ object_name }) => object_name)).toEqual(["Account", "Contact", "Lead", "Opportunity"]);
  expect(await client.auditedActions()).toEqual(
    expect.arrayContaining([
      ...["workspace.created", "connection.postgres_changed", "connection.salesforce_authorized", "mapping.created"],
      ...["webhook.created", "webhook.tested", "token.created", "config.imported"],
    ]),
  );
});
