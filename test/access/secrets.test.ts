import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { mintToken } from "../../lib/access/token.ts";
import { newSecret } from "../../lib/webhooks/sign.ts";
import { checkOperation } from "../support/checks/described-api.ts";
import { keepSecret, secretsIn } from "../support/run/secrets.ts";
import { startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createTestDatabase } from "../support/worlds/postgres.ts";

/** The searches that every test file ends with, each with something planted for it to find. */
describe("a secret in plaintext fails the test that wrote it", () => {
  const PASSWORD = "a-kept-passw0rd/of=the&database";
  keepSecret(PASSWORD);

  test("by its form or as it was kept, whatever its spelling; a sample, and what only looks like a token, are none", () => {
    const [inUrl, bytes] = [encodeURIComponent(PASSWORD), Buffer.from(`ab:${PASSWORD}:c`)];
    const session = `00D000000000000AAA!${"x".repeat(40)}`;
    const secrets = [mintToken("operate"), newSecret(), session, PASSWORD, inUrl];
    for (const secret of [...secrets, bytes.toString("base64"), bytes.toString("base64", 1)])
      expect(secretsIn(`{"a":1} ${secret} and more`), secret).toHaveLength(1);

    const wrong = mintToken("read").replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    const sample = `whsec_${Buffer.from("a sample, to try a receiver with").toString("base64")}`;
    expect(secretsIn(`${wrong} brg_a whsec_short ${sample}`)).toEqual([]);
  });

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
