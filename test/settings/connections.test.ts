import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ReadObjectData, TestPostgresData } from "bridge/api";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { askingIn } from "../support/clients/ask.ts";
import { auditedIn, auditPage } from "../support/clients/audit-page.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { type ConnectedOrg, startConnectedOrg } from "../support/worlds/connected-org.ts";
import { createTestDatabase, type TestDatabase } from "../support/worlds/postgres.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";

const pemPair = () =>
  generateKeyPairSync("rsa", {
    modulusLength: 2048,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });

const signer = pemPair();
let cloud: BridgeCloud;
let org: ConnectedOrg;
let database: TestDatabase;
let workspace: TestWorkspace;
beforeAll(async () => {
  cloud = await startBridgeCloud();
  // The org's clock is the service's, for it judges when an assertion was signed.
  const clock = { now: () => new Date(cloud.clock.now()), sleep: () => Promise.resolve() };
  org = await startConnectedOrg({ clock, assertionKey: signer.publicKey, controls: true });
  database = await createTestDatabase();
  workspace = await createTestWorkspace();
});
afterAll(async () => {
  await database.close();
  await org.close();
  await cloud.close();
});

const ask = askingIn(() => workspace);
const shown = () => ask("read-connections");
const postgres = async () => dataOf<{ postgres: Readonly<Record<string, unknown>> }>(await shown()).postgres;
const tested = async () => dataOf<TestPostgresData>(await ask("test-salesforce"));
const bad = ({ findings }: TestPostgresData) => findings.filter(({ ok }) => !ok);

describe("PostgreSQL", () => {
  const put = (body: object, query: Record<string, string> = {}) => ask("set-postgres", { body, query });
  const change = (body: object) => ask("change-postgres", { body });
  const audited = async (limit: number) => {
    const filter = { workspaceId: workspace.id, actor: null, action: "connection.postgres_changed" } as const;
    return (await auditPage(filter, { limit, offset: 0 })).entries.map(({ detail }) => detail);
  };

  test("a database is connected after a check of it, and its password is never shown again", async () => {
    const answer = await put({ url: database.url });

    expect(answer.json?.data).toMatchObject({ ok: true });
    const { username, password, port, pathname } = new URL(database.url);
    expect(await postgres()).toMatchObject({
      ...{ host: "127.0.0.1", port: Number(port), database: pathname.slice(1), user: username },
    });
    if (password !== "") expect((await shown()).text).not.toContain(password);
    expect(dataOf<TestPostgresData>(await ask("test-postgres")).ok).toBe(true);
  });

  test("who changes the mapped tables, and how many connections Bridge opens, are settings that a new password does not undo, audited", async () => {
    expect(await postgres()).toMatchObject({ schema_changes: "apply", max_connections: 10 });
    await change({ schema_changes: "propose" });
    const changed = await change({ max_connections: 3 });
    await put({ url: database.url });
    expect(await postgres()).toMatchObject({ schema_changes: "propose", max_connections: 3 });
    await put({ url: database.url, schema_changes: "apply" });

    for (const wrong of [2, 1001, 4.5, "10", null])
      expect(await change({ max_connections: wrong })).toMatchObject({ status: 400 });
    expect(await change({ schema_changes: "sometimes" })).toMatchObject({ status: 400 });
    expect(dataOf(changed)).toMatchObject({ postgres: { schema_changes: "propose", max_connections: 3 } });
    expect(await postgres()).toMatchObject({ schema_changes: "apply", max_connections: 3 });
    const changes = (await audited(5)).map(({ schema_changes }) => schema_changes);
    expect(changes.filter((one) => one !== undefined).slice(0, 3)).toEqual(["apply", "propose", "propose"]);
  });

  test("how long the database keeps what Bridge writes is a setting, which another password leaves as it is", async () => {
    const patch = (body: object) => ask("change-retention", { body });
    const unset = { retention: { log_days: 31, conflict_days: 31, tombstone_days: 31 }, log_autovacuum: null };
    expect(await postgres()).toMatchObject(unset);

    await patch({ log_days: 14, log_autovacuum: { vacuum_scale_factor: 0.02, vacuum_cost_limit: 500 } });
    const answer = await patch({ conflict_days: 3650 });
    await put({ url: database.url });

    const chosen = {
      retention: { log_days: 14, conflict_days: 3650, tombstone_days: 31 },
      log_autovacuum: { vacuum_scale_factor: 0.02, vacuum_cost_limit: 500 },
    };
    expect(dataOf<{ postgres: object }>(answer).postgres).toMatchObject(chosen);
    expect(await postgres()).toMatchObject(chosen);
    expect((await audited(2))[1]).toMatchObject({ retention: { conflict_days: 3650 } });

    const log_autovacuum = { vacuum_cost_limit: 20_000, analyze_scale: 1 };
    const refused = await patch({ log_days: 0, tombstone_days: 7, conflict_days: 1.5, log_autovacuum });
    expect(refused.status).toBe(400);
    expect(refused.json?.error?.details).toEqual([
      { path: "body.log_days", message: "must be at least 1" },
      { path: "body.conflict_days", message: "must be a whole number of days" },
      { path: "body.tombstone_days", message: "must be at least 8" },
      { path: "body.log_autovacuum.vacuum_cost_limit", message: "must be at most 10000" },
      { path: "body.log_autovacuum", message: 'has no "analyze_scale"' },
    ]);
    expect(await postgres()).toMatchObject(chosen);
    await patch({ log_autovacuum: null });
    expect(await postgres()).toMatchObject({ log_autovacuum: null, retention: chosen.retention });
  });

  test("people who change different settings of one connection at the same time all find theirs", async () => {
    for (const days of [3, 4, 5, 6]) {
      const schema_changes = days % 2 === 0 ? "apply" : "propose";
      const answers = await Promise.all([
        change({ max_connections: days }),
        change({ schema_changes }),
        ask("change-retention", { body: { log_days: days } }),
        put({ url: database.url }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(await postgres()).toMatchObject({ max_connections: days, schema_changes, retention: { log_days: days } });
    }
  });

  test("before a database is connected no setting of it is accepted, and a dry run that finds faults connects nothing", async () => {
    const other = await createTestWorkspace();
    const there = askingIn(() => other);
    const url = new URL(database.url);
    url.pathname = "/not_there";

    const early = [
      await there("change-retention", { body: { log_days: 14 } }),
      await there("change-postgres", { body: { schema_changes: "propose" } }),
    ];
    const refused = await there("set-postgres", { body: { url: url.href }, query: { dry_run: "true" } });

    for (const { status, json } of early)
      expect([status, json?.error?.message]).toEqual([409, expect.stringContaining("connect one first")]);
    expect(bad(dataOf(refused))).toMatchObject([{ check: "connection", remedy: expect.stringContaining("URL") }]);
    expect((await there("read-connections")).json?.data).toEqual({ postgres: null, salesforce: null });
  });

  test("a user without rights is refused with the very GRANT that is missing", async () => {
    await database.asSuperuser(`CREATE SCHEMA crm; CREATE ROLE "o'malley" LOGIN PASSWORD 'secret'`);
    const url = new URL(database.url);
    [url.username, url.password] = ["o'malley", "secret"];

    const withSchema = await put({ url: url.href, schema: "crm" });
    const withoutSchema = await put({ url: url.href, schema: "other" });

    expect(withSchema.status).toBe(400);
    expect(withSchema.json?.error?.details?.[0]?.message).toContain(
      `GRANT USAGE, CREATE ON SCHEMA "crm" TO "o'malley";`,
    );
    expect(withoutSchema.json?.error?.message).toContain(`GRANT CREATE ON DATABASE`);
  });

  test("a schema of another workspace is refused, unless it is taken over, and kept by who connects again and names none", async () => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(`CREATE SCHEMA theirs;
      CREATE TABLE theirs._bridge_meta (workspace_id text, schema_version int);
      INSERT INTO theirs._bridge_meta VALUES ('ws_theirs', 1)`);

    const refused = await put({ url: database.url, schema: "theirs" });
    const taken = await put({ url: database.url, schema: "theirs", take_over: true });
    const { rows } = await client.query("SELECT workspace_id FROM theirs._bridge_meta");
    await client.end();
    await put({ url: database.url });
    const kept = await postgres();
    await put({ url: database.url, schema: "salesforce" });

    expect(refused.json?.error?.message).toContain("belongs to ws_theirs");
    expect(taken.status).toBe(200);
    expect(rows).toEqual([{ workspace_id: workspace.id }]);
    expect([kept["schema"], (await postgres())["schema"]]).toEqual(["theirs", "salesforce"]);
  });

  test.each([
    ["no server listens there", "postgres://u:p@127.0.0.1:1/d", "connection"],
    ["a private address", "postgres://u:p@10.0.0.1/d", "address"],
    ["the cloud's metadata address", "postgres://u:p@169.254.169.254/d", "address"],
    ["a private address in another spelling", "postgres://u:p@[::ffff:10.0.0.1]/d", "address"],
  ])("%s: the finding names it", async (_, url, check) => {
    expect(bad(dataOf(await put({ url }, { dry_run: "true" })))).toMatchObject([{ check }]);
  });

  test.each([
    ...["mysql://u:p@h/d", "not a url", "postgres://", "postgres://u:p@h/d\u0000"].map((url) => [url, ""]),
    ...["u%zz:p@127.0.0.1/d", "u:100%pure@127.0.0.1/d", "u:p@127.0.0.1/d%"].map((url) => [`postgres://${url}`, "%25"]),
  ])("%j is refused as no database URL, a literal percent sign with how to write it (%s)", async (url, remedy) => {
    const refused = await put({ url });

    expect(refused.status).toBe(400);
    const details = { path: "body.url", message: expect.stringContaining(String(remedy)) };
    expect(refused.json?.error?.details?.[0]).toMatchObject(details);
  });
});

describe("Salesforce", () => {
  const passwordOf = () => {
    const { credentials } = org.connection;
    if (credentials.kind !== "password") throw new Error("the local org is connected by password");
    return credentials;
  };
  const connect = (credentials: object, loginUrl = org.connection.loginUrl) =>
    ask("set-salesforce", { body: { login_url: loginUrl, credentials } });
  const byClient = (more: object = {}) => {
    const { clientId: client_id, clientSecret: client_secret } = passwordOf();
    return connect({ kind: "client_credentials", client_id, client_secret, ...more });
  };
  const byAssertion = (private_key: string) => {
    const { clientId: client_id, username } = passwordOf();
    return connect({ kind: "jwt_bearer", client_id, username, private_key });
  };
  const begun = async () => {
    const { loginUrl: login_url } = org.connection;
    const body = { login_url, client_id: passwordOf().clientId, redirect_uri: "http://localhost:1717/callback" };
    return dataOf<{ authorize_url: string; state: string }>(await ask("authorize-salesforce", { body }));
  };
  const NOBODY = { kind: "client_credentials", client_id: "a", client_secret: "b" };
  /** What the browser brings back. */
  const landed = async (url: string) =>
    new URL((await fetch(url, { redirect: "manual" })).headers.get("location") ?? "").searchParams;
  const complete = (body: object, more: object = {}) => ask("complete-salesforce", { body, ...more });

  test("a person signs in by browser, with PKCE and without the secret leaving the service", async () => {
    const { authorize_url, state } = await begun();
    const sent = new URL(authorize_url).searchParams;
    const back = await landed(authorize_url);

    const answer = await complete({ state, code: back.get("code") });

    expect(sent.get("code_challenge_method")).toBe("S256");
    expect(sent.get("code_challenge")).toMatch(/^[\w-]{43}$/);
    expect(back.get("state")).toBe(state);
    expect(answer.json?.data).toMatchObject({
      organization_id: org.connection.organizationId,
      instance_url: org.connection.loginUrl,
      username: "admin@bridge.example",
    });
    expect((await tested()).findings).toHaveLength(3);
  });

  test("a sign-in works once, in its own workspace, and for fifteen minutes", async () => {
    const used = await begun();
    const code = (await landed(used.authorize_url)).get("code");
    const other = await createTestWorkspace();
    const there = { path: { workspace_id: other.id }, token: other.token };
    const elsewhere = await complete({ state: used.state, code }, there);
    const stale = await begun();
    const timely = await begun();
    await complete({ state: used.state, code });

    expect(elsewhere.status).toBe(404);
    expect((await complete({ state: used.state, code })).status).toBe(404);
    await cloud.clock.advance({ seconds: 15 * 60 - 1 });
    const inTime = (await landed(timely.authorize_url)).get("code");
    expect((await complete({ state: timely.state, code: inTime })).status).toBe(200);
    await cloud.clock.advance({ seconds: 1 });
    const late = (await landed(stale.authorize_url)).get("code");
    expect((await complete({ state: stale.state, code: late })).status).toBe(404);
  });

  test("machines sign in by password, client credentials, and a signed assertion, each in the audit log without secrets", async () => {
    const { clientId: client_id, clientSecret: client_secret, username, password } = passwordOf();
    const private_key = signer.privateKey;
    const flows = [
      { kind: "password", client_id, client_secret, username, password },
      { kind: "client_credentials", client_id, client_secret },
      { kind: "jwt_bearer", client_id, username, private_key },
    ];

    for (const credentials of flows) {
      expect((await connect(credentials)).json).toMatchObject({ data: { username: "admin@bridge.example" } });
      const view = await shown();
      expect(view.json?.data).toMatchObject({ salesforce: { flow: credentials.kind, api_version: "68.0" } });
      const { entries } = await auditedIn(workspace.id, "connection.salesforce_authorized", 10);
      expect(entries[0]?.detail).toMatchObject({ flow: credentials.kind, username: "admin@bridge.example" });
      for (const secret of [client_secret, password, private_key])
        for (const text of [view.text, JSON.stringify(entries)]) expect(text).not.toContain(secret);
    }
  });

  test.each([
    ["a wrong consumer key", { client_id: "x" }, "invalid_client_id", "consumer key"],
    ["a wrong secret", { client_secret: "x" }, "invalid_client", "consumer secret"],
    ["a wrong password", { password: "x" }, "invalid_grant", "security token"],
  ])("%s is refused with what to do about it", async (_, wrong, code, remedy) => {
    const { clientId, clientSecret, username, password } = passwordOf();
    const right = { kind: "password", client_id: clientId, client_secret: clientSecret, username, password };

    const refused = await connect({ ...right, ...wrong });

    expect(refused.status).toBe(400);
    expect(refused.json?.error?.message).toContain(code);
    expect(refused.json?.error?.message).toContain(remedy);
  });

  describe("of an app with few scopes", () => {
    const scopes = (names: readonly string[] | null) => org.control("PUT", "/release", { scopes: names });
    afterEach(() => scopes(null));

    test("an org is connected that does not say who the user is, by what its token endpoint says", async () => {
      await scopes(["api"]);

      const answer = await byClient();

      const { organizationId } = org.connection;
      const view = await shown();
      const { user_id } = dataOf<{ salesforce: { user_id: string } }>(view).salesforce;
      expect(user_id).toMatch(/^005\w{15}$/);
      expect(answer.json?.data).toMatchObject({ organization_id: organizationId, username: user_id });
      expect(view.json?.data).toMatchObject({ salesforce: { organization_id: organizationId } });
      expect((await tested()).ok).toBe(true);
    });

    test("an assertion is refused with the scope that is missing, and an outage of userinfo is no missing scope", async () => {
      await scopes(["api"]);
      const refused = await byAssertion(signer.privateKey);
      await scopes(null);
      await org.control("POST", "/faults", { kind: "unavailable", path: "userinfo" });

      expect(refused.json?.error?.message).toContain("add 'refresh_token, offline_access' to the app's scopes");
      expect((await byClient()).status).toBe(400);
    });
  });

  test("an assertion that another key has signed is refused, and a text that only looks like a key as none", async () => {
    const other = await byAssertion(pemPair().privateKey);
    const none = await byAssertion("-----BEGIN PRIVATE KEY-----\nbm90IGEga2V5\n-----END PRIVATE KEY-----\n");

    expect([other.status, other.json?.error?.message]).toEqual([400, expect.stringContaining("invalid_grant")]);
    const details = { path: "body.credentials.private_key", message: expect.stringContaining("PEM") };
    expect([none.status, none.json?.error?.details?.[0]]).toEqual([400, expect.objectContaining(details)]);
  });

  test("a check of the connection has the remedy for what Salesforce refuses, which is not to connect again", async () => {
    await byClient();
    await org.control("DELETE", "/sessions");
    const [code, message] = ["invalid_grant", "user is locked"];
    await org.control("POST", "/faults", { kind: "refusedGrant", path: "oauth2/token", code, message });

    const { findings } = await tested();

    const refused = { check: "session", ok: false, message: `Salesforce refused: ${message} (${code})` };
    expect(findings).toEqual([{ ...refused, remedy: expect.stringContaining("unlock it (Setup, Users)") }]);
    expect(findings[0]?.remedy).not.toContain("connect the workspace");
  });

  test("a site that answers every request with a page is reported as not Salesforce", async () => {
    const site = createServer((_, response) => response.end("<!DOCTYPE html><title>Welcome</title>"));
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    const { port } = site.address() as AddressInfo;

    const refused = await connect(NOBODY, `http://127.0.0.1:${port}`);

    await new Promise((resolve) => site.close(resolve));
    expect(refused.status).toBe(400);
    expect(refused.json?.error?.message).toContain("check the login URL");
  });

  test.each(["http://169.254.169.254/", "https://10.0.0.1", "http://[fd00::1]/"])(
    "nothing is sent to %s",
    async (url) => {
      expect((await connect(NOBODY, url)).json?.error?.details?.[0]?.path).toBe("body.login_url");
    },
  );

  test("a workspace with mappings is not moved to another org, where its rows would mean nothing", async () => {
    const made = await ask("create-mapping", { body: { sf_object: "Contact", fields: ["LastName"] } });
    const other = await startConnectedOrg();
    const { credentials, loginUrl } = other.connection;
    if (credentials.kind !== "client_credentials" && credentials.kind !== "password") throw new Error("another flow");
    const { clientId: client_id, clientSecret: client_secret } = credentials;

    const refused = await connect({ kind: "client_credentials", client_id, client_secret }, loginUrl);
    await other.close();

    expect(made.status).toBe(200);
    expect(refused.status).toBe(409);
    expect(refused.json?.error?.message).toContain(org.connection.organizationId);
  });

  test("the org's objects and fields are listed for pickers, with what cannot be mapped", async () => {
    const listed = await ask("list-objects");
    const read = (object_name: string) => ask("read-object", { path: { object_name } });
    const contact = dataOf<ReadObjectData>(await read("contact"));

    expect(dataOf<readonly { name: string }[]>(listed).map(({ name }) => name)).toContain("Contact");
    const field = (name: string) => contact.fields.find((one) => one.name === name);
    const lastName = { type: "string", length: 80, required: true, mappable: true, pg_type: "varchar(80)" };
    expect(field("LastName")).toMatchObject(lastName);
    expect(field("HasOptedOutOfEmail")).toMatchObject({ createable: true, required: false });
    expect(field("Id")).toMatchObject({ external_id: true });
    expect(field("MailingAddress")).toMatchObject({ type: "address", mappable: false, pg_type: null });
    expect((await read("Nothing__c")).status).toBe(404);
    expect((await read("../limits")).status).toBe(404);
  });

  test("the records that match a filter are counted before a mapping has it", async () => {
    const read = (filter: string) => ask("read-object", { path: { object_name: "User" }, query: { filter } });
    const matching = async (filter: string) => dataOf<{ matching: number | null }>(await read(filter)).matching;
    const { username } = passwordOf();
    const misspelt = await read("Username LIKE");

    expect([await matching(`Username = '${username}'`), await matching("Username = 'other'")]).toEqual([1, 0]);
    expect(misspelt.status).toBe(400);
    expect(misspelt.json?.error?.message).toMatch(/^the filter is not understood: at character 14 /);
    expect((await read("Nme = 'Ada'")).json?.error?.message).toContain("there is no field Nme");
  });

  test("a lookup lists, when asked, the fields by which rows name its parent, and a mapping accepts them as listed", async () => {
    const read = async (query = {}) =>
      dataOf<ReadObjectData>(await ask("read-object", { path: { object_name: "Opportunity" }, query }));
    const plain = await read();
    const withParents = await read({ parents: "true" });
    const keys = withParents.fields.find(({ name }) => name === "AccountId")?.parent_keys ?? [];

    expect(plain.fields.flatMap(({ parent_keys }) => parent_keys)).toEqual([]);
    expect(keys).toEqual([
      { name: "Account__External_Id__c", object: "Account", label: expect.stringMatching(/^Account: /) },
    ]);
    const body = { sf_object: "Opportunity", fields: ["Name", ...keys.map(({ name }) => name)] };
    const made = await ask("create-mapping", { body });
    expect(dataOf<{ fields: readonly string[] }>(made).fields).toEqual(["Account__External_Id__c", "Name"]);
  });

  describe("API version and token", () => {
    const release = (order: object) => org.control("PUT", "/release", order);
    const saving = async () => (await tested()).findings.find(({ check }) => check === "saving");
    afterAll(() => release({ newestVersion: 68, jsonWebTokens: false }));

    test("an app that issues JSON Web Tokens is refused where its org's SOAP does not take them, with what to do", async () => {
      const before = (await shown()).json?.data;
      await release({ newestVersion: 67, jsonWebTokens: true });

      const refused = await byClient();

      expect(refused.status).toBe(400);
      expect(refused.json?.error).toMatchObject({ code: "VALIDATION_ERROR", details: [{ path: "body.login_url" }] });
      expect(refused.json?.error?.message).toBe(
        "the app issues JSON Web Tokens, with which no record can be saved before API version 68.0, and the connection " +
          "uses 67.0: switch off 'Issue JSON Web Token (JWT)-based access tokens' in the app's OAuth settings, or wait " +
          "until the org speaks API version 68.0; then connect the workspace to Salesforce again",
      );
      expect((await shown()).json?.data).toEqual(before);
    });

    test("an org is spoken to in the newest version that both sides know, and an app that was switched to such tokens is found by a check", async () => {
      await release({ newestVersion: 68, jsonWebTokens: true }); // which that version's SOAP takes
      expect((await byClient()).json?.data).toMatchObject({ api_version: "68.0" });
      expect(await saving()).toMatchObject({ ok: true, remedy: null });
      await release({ newestVersion: 67, jsonWebTokens: false });
      expect((await byClient()).json?.data).toMatchObject({ api_version: "67.0" });
      expect(await saving()).toMatchObject({ ok: true });
      await release({ jsonWebTokens: true });
      await org.control("DELETE", "/sessions");

      const found = await saving();

      expect(found).toMatchObject({ ok: false, message: expect.stringContaining("the connection uses 67.0") });
      expect(found?.remedy).toContain("switch off 'Issue JSON Web Token (JWT)-based access tokens'");
    });
  });
});
