import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import { expect, test } from "vitest";
import { selfSigned } from "../../../lib/local/org/http/self-signed.ts";
import { openOrg as openLoneOrg, runOrg } from "../../../lib/local/org/run-org.ts";
import { spawnOrg } from "../../programs/bench/org-process.ts";
import { freshFolder } from "./support/open-org.ts";

test("what was saved is still there after kill -9", async () => {
  const dataDir = await freshFolder();
  const first = await spawnOrg(dataDir);
  const ask = async ({ url, token }: { url: string; token: string }, path: string, init: RequestInit = {}) => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const response = await fetch(`${url}/services/data/v66.0/${path}`, { headers, ...init });
    return (await response.json()) as { records: { Name: string }[] };
  };
  const names = Array.from({ length: 20 }, (_, serial) => `A${serial}`);
  for (const Name of names) await ask(first, "sobjects/Account", { method: "POST", body: JSON.stringify({ Name }) });
  first.stop("SIGKILL");

  const again = await spawnOrg(dataDir);
  const { records } = await ask(again, "query?q=SELECT+Name+FROM+Account+ORDER+BY+Id");
  again.stop();

  expect(again.token).toBe(first.token);
  expect(records.map((record) => record.Name)).toEqual(names);
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
