import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import { Connection } from "jsforce";
import { expect, test } from "vitest";
import { selfSigned } from "../../../lib/local/org/http/self-signed.ts";
import { openOrg as openLoneOrg, runOrg } from "../../../lib/local/org/run-org.ts";
import { spawnOrg } from "../../programs/bench/org-process.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import { freshFolder, openOrg } from "./support/open-org.ts";

test("jsforce logs in by SOAP, saves by REST and SOAP, and reads all of it page by page", async () => {
  const org = await openOrg();
  const connection = new Connection({ loginUrl: org.org.url });
  await connection.login(org.org.username, org.org.password);

  const created = await connection
    .sobject("Account")
    .create(Array.from({ length: 200 }, (_, index) => ({ Name: `A${index}` })));
  const upserted = await connection.soap.upsert("External_Id__c", [
    { type: "Contact", External_Id__c: "C-1", LastName: "Rose" },
  ]);
  const found = await connection
    .sobject("Account")
    .find({ Name: { $like: "A1%" } }, ["Id", "Name"])
    .limit(3);

  expect(created.every((result) => result.success)).toBe(true);
  expect(upserted).toMatchObject([{ success: true, created: true }]);
  expect(found).toHaveLength(3);
  expect(connection.limitInfo.apiUsage).toEqual({ used: 3, limit: 15000 });
});

longTest("what was saved is still there after kill -9", async () => {
  const dataDir = await freshFolder();
  const first = await spawnOrg(dataDir);
  const ask = async ({ url, token }: { url: string; token: string }, method: string, path: string, body?: object) => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const response = await fetch(`${url}/services/data/v66.0/${path}`, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return (await response.json()) as { id: string; records: { Name: string }[] };
  };
  for (let serial = 0; serial < 20; serial++) await ask(first, "POST", "sobjects/Account", { Name: `A${serial}` });
  first.stop("SIGKILL");

  const again = await spawnOrg(dataDir);
  const { records } = await ask(again, "GET", "query?q=SELECT+Name+FROM+Account+ORDER+BY+Id");
  again.stop();

  expect(again.token).toBe(first.token);
  expect(records.map((record) => record.Name)).toEqual(Array.from({ length: 20 }, (_, serial) => `A${serial}`));
});

test("alone and with TLS it serves HTTPS under a certificate that it renews before its end, and keeps until then", async () => {
  const dataDir = await freshFolder();
  const certificate = () => readFile(join(dataDir, "tls-cert.pem"), "utf8");
  const old = selfSigned(new Date("2020-01-01T00:00:00Z"));
  await writeFile(join(dataDir, "tls-key.pem"), old.key);
  await writeFile(join(dataDir, "tls-cert.pem"), old.cert);
  const stop = new AbortController();
  const said = Promise.withResolvers<string>();
  const running = runOrg({ dataDir, port: 0, tls: true, controls: true }, said.resolve, stop.signal);

  const text = await said.promise;
  const renewed = await certificate();
  const url = /https:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0] ?? "";
  const [response] = await once(request(`${url}/services/data`, { ca: renewed, agent: false }).end(), "response");
  response.resume();
  stop.abort();
  await running;
  await (await openLoneOrg({ dataDir, port: 0, tls: true })).close();

  expect(response.statusCode).toBe(200);
  expect(text).toContain("access token   00D");
  expect(renewed).not.toBe(old.cert);
  expect(await certificate()).toBe(renewed);
});

test("a definition that is wrong is refused with its place, before anything is started", async () => {
  const dataDir = await freshFolder();
  const file = join(dataDir, "org.json");
  await writeFile(file, JSON.stringify({ objects: [{ name: "Thing__c", fields: [{ name: "A__c", type: "poem" }] }] }));

  const running = runOrg({ dataDir, port: 0, definition: file }, () => {}, new AbortController().signal);

  await expect(running).rejects.toThrow(/org\.json is no org definition: objects\.0\.fields\.0\.type/);
});
