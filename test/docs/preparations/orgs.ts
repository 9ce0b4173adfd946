import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Reader } from "../reader.ts";

/** Far more than it takes, so that a busy machine fails nothing. */
const SOON = { timeout: 300_000, interval: 250 };

/** The embedded org has an app for the client credentials flow, as a real one has after the page's second step. */
export async function connectedApp(reader: Reader): Promise<void> {
  const { url, client_id, client_secret } = reader.instance.file.salesforce;
  await reader.run("npx bridge workspace create Own --owner ada@example.com --login && npx bridge connect postgres");
  writeFileSync(join(reader.folder, "secret.txt"), `${client_secret}\n`);
  await reader.types({ placeholders: { "https://acme.my.salesforce.com": url, "3MVG9…": client_id ?? "" } });

  const connections = JSON.parse(await reader.run("npx bridge connections --json")) as Record<string, object>;
  expect(connections["salesforce"]).toMatchObject({ login_url: url, instance_url: url });
}

/** Bridge has an address outside, and the org sends what the command line of Salesforce installs there. */
export async function doorbell(reader: Reader): Promise<void> {
  await reader.restart({ environment: { BASE_URL: "https://bridge.example.com" } });
  reader.stub("sf");
  await reader.types();

  expect(reader.calls).toEqual(["sf project deploy start --metadata-dir doorbell"]);
  const message = readFileSync(join(reader.folder, "doorbell/workflows/Contact.workflow"), "utf8");
  const [, path] = /<endpointUrl>https:\/\/bridge\.example\.com(.*)<\/endpointUrl>/.exec(message) ?? [];
  expect(await fetch(`${reader.instance.file.base_url}${path}`, { method: "POST" })).toMatchObject({ status: 200 });
  await expect
    .poll(async () => JSON.parse(await reader.run("npx bridge doorbell --json")) as object, SOON)
    .toMatchObject({
      mappings: expect.arrayContaining([expect.objectContaining({ sf_object: "Contact", state: "alive" })]),
    });
}
