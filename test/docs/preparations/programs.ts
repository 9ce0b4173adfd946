import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { expect } from "vitest";
import { freePort } from "../../../lib/local/free-port.ts";
import { fencesIn, textOf } from "../blocks.ts";
import type { Preparations } from "./shared.ts";

export const programs = {
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
    const client = new Client({ connectionString: url.href });
    await client.connect();
    await client.end();
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

    const [, token] = /access_token\W+(\S+)/.exec(said) ?? [];
    const path = "services/data/v68.0/sobjects/Invoice__c/describe";
    const ask = `curl --fail --silent --insecure --header 'Authorization: Bearer ${token}' https://127.0.0.1:${port}/${path}`;
    expect(JSON.parse(await reader.run(ask))).toMatchObject({ name: "Invoice__c" });
  },
} satisfies Preparations;
