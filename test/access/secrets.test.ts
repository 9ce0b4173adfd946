import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { mintToken } from "../../lib/access/token.ts";
import { checkOperation } from "../support/checks/described-api.ts";
import { keepSecret } from "../support/run/secrets.ts";
import { startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createTestDatabase } from "../support/worlds/postgres.ts";

/** The searches that every test file ends with, each with something planted for it to find. */
describe("a secret in plaintext fails the test that wrote it", () => {
  const PASSWORD = "a-kept-passw0rd/of=the&database";
  keepSecret(PASSWORD);

  test("in an item of a table", async () => {
    const cloud = await startBridgeCloud();
    const Item = { pk: "ws_1", sk: "1", detail: { note: `made with ${mintToken("admin")}` } };
    await cloud.clients.documents.send(new PutCommand({ TableName: "bridge-test-workspaces", Item }));

    await expect(cloud.close()).rejects.toThrow(/dynamodb\.sqlite.* holds 1 secrets in plaintext: brg_a/);
  });

  test("in a row of the customer's database", async () => {
    const database = await createTestDatabase();
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query("CREATE SCHEMA s; CREATE TABLE s.log (entry jsonb)");
    await client.query("INSERT INTO s.log VALUES (jsonb_build_object('said', $1::text))", [PASSWORD]);
    await client.end();

    await expect(database.close()).rejects.toThrow("these tables hold secrets in plaintext: s.log");
  });

  test("in an answer that is not there to show it", () => {
    const envelope = { success: true, data: { oauth: mintToken("read") } };
    const answer = { status: 200, contentType: "application/json", text: JSON.stringify(envelope) };

    expect(() => checkOperation("read-connections", answer)).toThrow("an answer of read-connections holds 1 secrets");
  });
});
