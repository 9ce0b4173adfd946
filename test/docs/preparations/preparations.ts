import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { freePort } from "../../../lib/local/free-port.ts";
import { fencesIn, textOf } from "../blocks.ts";
import { databases } from "./databases.ts";
import { rows } from "./rows.ts";
import { CREATE, jsonOf, listed, type Preparations, query, SOON } from "./shared.ts";
import { webhooks } from "./webhooks.ts";

export const preparations: Preparations = {
  ...{ ...databases, ...rows, ...webhooks },

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

  /** The colleague has the link that a block before has written to a file. */
  colleague: async (reader) => {
    expect(await reader.types()).toContain("as ada@example.com (read)");
  },

  /** The token has been rotated in a block before, and its old one has ended. */
  leaver: async (reader) => {
    const tokens = async () =>
      (await listed<Record<"id" | "name" | "state", string>>(reader, "/tokens")).filter(
        ({ name, state }) => name === "ada" && state === "valid",
      );
    const [, old] = await tokens();
    await reader.run(`npx bridge token revoke ${old?.id}`);
    await reader.types();

    expect(await tokens()).toEqual([]);
  },

  /** A second workspace, which is connected and has no mapping yet, and the files with a token of each. */
  "two-stages": async (reader) => {
    const { base_url, workspace_id, api_token } = reader.instance.file;
    const create = "workspace create Production --owner ada@example.com --login";
    const made = await jsonOf<{ workspace_id: string; token: string }>(reader, create);
    await reader.run("npx bridge connect postgres && npx bridge connect salesforce");
    writeFileSync(join(reader.folder, "production.token"), made.token);
    writeFileSync(join(reader.folder, "test.token"), api_token ?? "");
    await reader.types({
      lines: 1,
      placeholders: { "https://bridge.example.com": base_url, "ws_…": made.workspace_id },
    });
    await reader.types({ placeholders: { "https://test.example.com": base_url, "ws_…": workspace_id ?? "" } });

    expect(await reader.run("npx bridge whoami")).toContain(workspace_id);
  },

  /** Packages are installed and the instance runs, so npm only checks what it is asked for. */
  npm: async (reader) => {
    reader.stub("npm");
    await reader.types();

    expect(reader.calls).toContain("npm install");
  },

  /** Upstream, the project has one commit more than the clone. */
  upgrade: async (reader) => {
    reader.stub("npm");
    await reader.run(`
      git init --quiet --initial-branch main
      git config user.name Ada && git config user.email ada@example.com
      git add CHANGELOG.md && git commit --quiet --message 'A version'
      git commit --quiet --allow-empty --message 'The next version'
      git clone --quiet --bare . ../upstream.git
      git reset --quiet --hard HEAD^
      git remote add origin ../upstream.git && git fetch --quiet && git branch --quiet --set-upstream-to origin/main`);
    await reader.types();

    expect(await reader.run("git log -1 --format=%s")).toBe("The next version\n");
  },

  /** The new role can sign in with its password. */
  psql: async (reader) => {
    reader.stub("psql");
    await reader.types();

    const url = new URL(reader.instance.file.database_url);
    Object.assign(url, { username: "shop", password: "choose one" });
    await query(url.href);
  },

  /** An endpoint is new: neither the examples nor the document are what they should be. */
  examples: async (reader) => {
    reader.stub("npm");
    const fileOf = (name: string) => join(reader.folder, "lib/http/openapi", name);
    const [sample, document] = [fileOf("examples.json"), fileOf("openapi.json")];
    const before = [sample, document].map((file) => readFileSync(file, "utf8"));
    writeFileSync(sample, "{}\n");
    writeFileSync(document, before[1]?.replace(/"description": "[^"]+"/, '"description": ""') ?? "");
    await reader.types();

    expect([sample, document].map((file) => readFileSync(file, "utf8"))).toEqual(before);
  },

  /** The page's own definition, in the file that the command names. */
  "embedded-org": async (reader) => {
    const definition = fencesIn(textOf("lib/local/org/README.md")).find(({ words }) => words === "json");
    writeFileSync(join(reader.folder, "my-org.json"), definition?.content ?? "");
    const port = await freePort();
    const said = await reader.starts(/Ctrl-C/, { placeholders: { 8443: String(port) } });

    const [, token] = /access token\s+(\S+)/.exec(said) ?? [];
    const path = "services/data/v68.0/sobjects/Invoice__c/describe";
    const ask = `curl --fail --silent --insecure --header 'Authorization: Bearer ${token}' https://127.0.0.1:${port}/${path}`;
    expect(JSON.parse(await reader.run(ask))).toMatchObject({ name: "Invoice__c" });
  },
};
