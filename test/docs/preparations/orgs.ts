import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { CREATE, jsonOf, type Preparations, SOON } from "./shared.ts";

export const orgs = {
  /** The embedded org has an app for the client credentials flow, as a real one has after the page's second step. */
  "connected-app": async (reader) => {
    const { url, client_id, client_secret } = reader.instance.file.salesforce;
    await reader.run(`${CREATE} && npx bridge connect postgres`);
    writeFileSync(join(reader.folder, "secret.txt"), `${client_secret}\n`);
    await reader.types({ placeholders: { "https://acme.my.salesforce.com": url, "3MVG9…": client_id ?? "" } });

    expect((await jsonOf<Record<string, object>>(reader, "connections"))["salesforce"]).toMatchObject({
      login_url: url,
      instance_url: url,
    });
  },

  /** Bridge has an address outside, and the org sends what the command line of Salesforce installs there. */
  doorbell: async (reader) => {
    await reader.restart({ environment: { BASE_URL: "https://bridge.example.com" } });
    reader.stub("sf");
    await reader.types();

    expect(reader.calls).toEqual(["sf project deploy start --metadata-dir doorbell"]);
    const message = readFileSync(join(reader.folder, "doorbell/workflows/Contact.workflow"), "utf8");
    const [, path] = /<endpointUrl>https:\/\/bridge\.example\.com(.*)<\/endpointUrl>/.exec(message) ?? [];
    expect(await fetch(`${reader.instance.file.base_url}${path}`, { method: "POST" })).toMatchObject({ status: 200 });
    const alive = expect.objectContaining({ sf_object: "Contact", state: "alive" });
    await expect
      .poll(() => jsonOf(reader, "doorbell"), SOON)
      .toMatchObject({ mappings: expect.arrayContaining([alive]) });
  },
} satisfies Preparations;
