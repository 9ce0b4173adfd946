import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { handler as authorizeSalesforce } from "../../functions/api/authorize-salesforce.ts";
import { handler as changePostgres } from "../../functions/api/change-postgres.ts";
import { handler as changeRetention } from "../../functions/api/change-retention.ts";
import { handler as completeSalesforce } from "../../functions/api/complete-salesforce.ts";
import { handler as createMapping } from "../../functions/api/create-mapping.ts";
import { handler as listObjects } from "../../functions/api/list-objects.ts";
import { handler as readConnections } from "../../functions/api/read-connections.ts";
import { handler as readObject } from "../../functions/api/read-object.ts";
import { handler as setPostgres } from "../../functions/api/set-postgres.ts";
import { handler as setSalesforce } from "../../functions/api/set-salesforce.ts";
import { handler as testPostgres } from "../../functions/api/test-postgres.ts";
import { handler as testSalesforce } from "../../functions/api/test-salesforce.ts";
import { auditPage } from "../support/clients/audit-page.ts";
import { call, type Request } from "../support/clients/call.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { longTest } from "../support/run/whole-grid.ts";
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

const request = (more: Request = {}): Request => ({
  token: workspace.token,
  ...more,
  path: { workspace_id: workspace.id, ...more.path },
});

interface Checked {
  readonly ok: boolean;
  readonly findings: readonly {
    readonly check: string;
    readonly ok: boolean;
    readonly message: string;
    readonly remedy: string | null;
  }[];
}

const bad = ({ findings }: Checked) => findings.filter(({ ok }) => !ok);

describe("PostgreSQL", () => {
  const put = (body: object, query: Record<string, string> = {}) =>
    call(setPostgres, "set-postgres", request({ body, query }));
  const look = async (body: object): Promise<Checked> => dataOf(await put(body, { dry_run: "true" }));
  const asUser = (url: string, username: string, password: string): string => {
    const other = new URL(url);
    other.username = username;
    other.password = password;
    return other.href;
  };

  test("a database is connected after a check of it, and its password is never shown again", async () => {
    const answer = await put({ url: database.url });

    expect(answer.json?.data).toMatchObject({ ok: true });
    const view = await call(readConnections, "read-connections", request());
    const { username, password, port, pathname } = new URL(database.url);
    expect(view.json?.data).toMatchObject({
      postgres: { host: "127.0.0.1", port: Number(port), database: pathname.slice(1), user: username },
    });
    if (password !== "") expect(view.text).not.toContain(password);
    expect(dataOf<Checked>(await call(testPostgres, "test-postgres", request())).ok).toBe(true);
  });

  test("who changes the mapped tables is a setting that a new password does not undo, and audited", async () => {
    const changes = async () =>
      dataOf<{ postgres: { schema_changes: string } }>(await call(readConnections, "read-connections", request()))
        .postgres.schema_changes;
    const other = await createTestWorkspace();
    const change = (to: TestWorkspace, schema_changes: string) =>
      call(changePostgres, "change-postgres", {
        token: to.token,
        path: { workspace_id: to.id },
        body: { schema_changes },
      });

    expect(await changes()).toBe("apply");
    expect(dataOf(await change(workspace, "propose"))).toMatchObject({ postgres: { schema_changes: "propose" } });
    await put({ url: database.url });
    expect(await changes()).toBe("propose");
    await put({ url: database.url, schema_changes: "apply" });
    expect(await changes()).toBe("apply");

    expect(await change(workspace, "sometimes")).toMatchObject({ status: 400 });
    expect(await change(other, "propose")).toMatchObject({ status: 409 });
    expect(await changes()).toBe("apply");
    const asked = { workspaceId: workspace.id, actor: null, action: "connection.postgres_changed" } as const;
    const { entries } = await auditPage(asked, { limit: 4, offset: 0 });
    expect(entries.map(({ detail }) => detail["schema_changes"])).toEqual(["apply", "propose", "propose", "apply"]);
  });

  test("how many connections Bridge opens is a setting that a new password does not undo, 3 to 1000", async () => {
    const most = async () =>
      dataOf<{ postgres: { max_connections: number } }>(await call(readConnections, "read-connections", request()))
        .postgres.max_connections;
    const change = (max_connections: unknown) =>
      call(changePostgres, "change-postgres", request({ body: { max_connections } }));

    expect(await most()).toBe(10);
    expect(dataOf(await change(3))).toMatchObject({ postgres: { max_connections: 3, schema_changes: "apply" } });
    await put({ url: database.url });
    expect(await most()).toBe(3);
    for (const wrong of [2, 1001, 4.5, "10", null]) expect(await change(wrong)).toMatchObject({ status: 400 });
    expect(await most()).toBe(3);
  });

  test("how long the database keeps what Bridge writes is a setting, which another password leaves as it is", async () => {
    const patch = (body: object) => call(changeRetention, "change-retention", request({ body }));
    const view = async () =>
      dataOf<{ postgres: object }>(await call(readConnections, "read-connections", request())).postgres;
    await put({ url: database.url });
    const unset = { retention: { log_days: 31, conflict_days: 31, tombstone_days: 31 }, log_autovacuum: null };
    expect(await view()).toMatchObject(unset);

    await patch({ log_days: 14, log_autovacuum: { vacuum_scale_factor: 0.02, vacuum_cost_limit: 500 } });
    const answer = await patch({ conflict_days: 3650 });
    await put({ url: database.url });

    const chosen = {
      retention: { log_days: 14, conflict_days: 3650, tombstone_days: 31 },
      log_autovacuum: { vacuum_scale_factor: 0.02, vacuum_cost_limit: 500 },
    };
    expect(dataOf<{ postgres: object }>(answer).postgres).toMatchObject(chosen);
    expect(await view()).toMatchObject(chosen);
    const { entries } = await auditPage(
      { workspaceId: workspace.id, actor: null, action: null },
      { limit: 3, offset: 0 },
    );
    expect(entries[1]).toMatchObject({
      action: "connection.postgres_changed",
      detail: { retention: { conflict_days: 3650 } },
    });

    const refused = await patch({
      log_days: 0,
      tombstone_days: 7,
      conflict_days: 1.5,
      log_autovacuum: { vacuum_cost_limit: 20_000, analyze_scale: 1 },
    });
    expect(refused.status).toBe(400);
    expect(refused.json?.error?.details).toEqual([
      { path: "body.log_days", message: "must be at least 1" },
      { path: "body.conflict_days", message: "must be a whole number of days" },
      { path: "body.tombstone_days", message: "must be at least 8" },
      { path: "body.log_autovacuum.vacuum_cost_limit", message: "must be at most 10000" },
      { path: "body.log_autovacuum", message: 'has no "analyze_scale"' },
    ]);
    expect(await view()).toMatchObject(chosen);
    await patch({ log_autovacuum: null });
    expect(await view()).toMatchObject({ log_autovacuum: null, retention: chosen.retention });
  });

  test("two people who change different settings of one connection at the same time both find theirs", async () => {
    const seen = async () => dataOf<{ postgres: object }>(await call(readConnections, "read-connections", request()));
    for (const days of [3, 4, 5, 6]) {
      const schema_changes = days % 2 === 0 ? "apply" : "propose";
      const answers = await Promise.all([
        call(changePostgres, "change-postgres", request({ body: { max_connections: days } })),
        call(changePostgres, "change-postgres", request({ body: { schema_changes } })),
        call(changeRetention, "change-retention", request({ body: { log_days: days } })),
        put({ url: database.url }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(await seen()).toMatchObject({
        postgres: { max_connections: days, schema_changes, retention: { log_days: days } },
      });
    }
  });

  test("a retention is refused before a database is connected", async () => {
    const other = await createTestWorkspace();

    const refused = await call(changeRetention, "change-retention", {
      path: { workspace_id: other.id },
      token: other.token,
      body: { log_days: 14 },
    });

    expect([refused.status, refused.json?.error?.message]).toEqual([409, expect.stringContaining("connect one first")]);
  });

  test("a dry run shows what is wrong and connects nothing", async () => {
    const other = await createTestWorkspace();
    const url = new URL(database.url);
    url.pathname = "/not_there";

    const refused = await call(setPostgres, "set-postgres", {
      path: { workspace_id: other.id },
      token: other.token,
      body: { url: url.href },
      query: { dry_run: "true" },
    });

    expect(bad(dataOf(refused))).toMatchObject([{ check: "connection", remedy: expect.stringContaining("URL") }]);
    const view = await call(readConnections, "read-connections", {
      path: { workspace_id: other.id },
      token: other.token,
    });
    expect(view.json?.data).toEqual({ postgres: null, salesforce: null });
  });

  test("a user without rights is refused with the very GRANT that is missing", async () => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query("CREATE SCHEMA crm");
    await client.end();
    await database.asSuperuser(`CREATE ROLE "o'malley" LOGIN PASSWORD 'secret'`);
    const url = asUser(database.url, "o'malley", "secret");

    const withSchema = await put({ url, schema: "crm" });
    const withoutSchema = await put({ url, schema: "other" });

    expect(withSchema.status).toBe(400);
    expect(withSchema.json?.error?.details?.[0]?.message).toContain(
      `GRANT USAGE, CREATE ON SCHEMA "crm" TO "o'malley";`,
    );
    expect(withoutSchema.json?.error?.message).toContain(`GRANT CREATE ON DATABASE`);
  });

  test("a schema of another workspace is refused, unless it is taken over", async () => {
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

    expect(refused.json?.error?.message).toContain("belongs to ws_theirs");
    expect(taken.status).toBe(200);
    expect(rows).toEqual([{ workspace_id: workspace.id }]);
  });

  test.each([
    ["no server listens there", "postgres://u:p@127.0.0.1:1/d", "connection"],
    ["a private address", "postgres://u:p@10.0.0.1/d", "address"],
    ["the cloud's metadata address", "postgres://u:p@169.254.169.254/d", "address"],
    ["a private address in another spelling", "postgres://u:p@[::ffff:10.0.0.1]/d", "address"],
  ])("%s: the finding names it", async (_, url, check) => {
    expect(bad(await look({ url }))).toMatchObject([{ check }]);
  });

  test.each(["mysql://u:p@h/d", "not a url", "postgres://", "postgres://u:p@h/d\u0000"])(
    "%j is refused as no database URL",
    async (url) => {
      const refused = await put({ url });

      expect(refused.status).toBe(400);
      expect(refused.json?.error?.details?.[0]?.path).toBe("body.url");
    },
  );

  test.each(["postgres://u%zz:p@127.0.0.1/d", "postgres://u:100%pure@127.0.0.1/d", "postgres://u:p@127.0.0.1/d%"])(
    "a literal percent sign is refused with how to write it: %s",
    async (url) => {
      const refused = await put({ url });

      expect(refused.status).toBe(400);
      expect(refused.json?.error?.details?.[0]).toMatchObject({
        path: "body.url",
        message: expect.stringContaining("%25"),
      });
    },
  );
});

describe("Salesforce", () => {
  const passwordOf = () => {
    const { credentials } = org.connection;
    if (credentials.kind !== "password") throw new Error("the local org is connected by password");
    return credentials;
  };
  const connect = (credentials: object, loginUrl = org.connection.loginUrl) =>
    call(setSalesforce, "set-salesforce", request({ body: { login_url: loginUrl, credentials } }));
  const authorize = (redirect_uri = "http://localhost:1717/callback") =>
    call(
      authorizeSalesforce,
      "authorize-salesforce",
      request({ body: { login_url: org.connection.loginUrl, client_id: passwordOf().clientId, redirect_uri } }),
    );
  const complete = (body: object) => call(completeSalesforce, "complete-salesforce", request({ body }));

  test("a person signs in by browser, with PKCE and without the secret leaving the service", async () => {
    const { authorize_url, state } = dataOf<{ authorize_url: string; state: string }>(await authorize());
    const sent = new URL(authorize_url).searchParams;
    const landed = await fetch(authorize_url, { redirect: "manual" });
    const back = new URL(landed.headers.get("location") ?? "");

    const answer = await complete({ state, code: back.searchParams.get("code") });

    expect(sent.get("code_challenge_method")).toBe("S256");
    expect(sent.get("code_challenge")).toMatch(/^[\w-]{43}$/);
    expect(back.searchParams.get("state")).toBe(state);
    expect(answer.json?.data).toMatchObject({
      organization_id: org.connection.organizationId,
      instance_url: org.connection.loginUrl,
      username: "admin@bridge.example",
    });
    expect(dataOf<Checked>(await call(testSalesforce, "test-salesforce", request())).findings).toHaveLength(3);
  });

  test("a sign-in works once, in its own workspace, and for fifteen minutes", async () => {
    const begun = async () => dataOf<{ authorize_url: string; state: string }>(await authorize());
    const codeOf = async (url: string) =>
      new URL((await fetch(url, { redirect: "manual" })).headers.get("location") ?? "").searchParams.get("code");
    const used = await begun();
    const code = await codeOf(used.authorize_url);
    const other = await createTestWorkspace();
    const elsewhere = await call(completeSalesforce, "complete-salesforce", {
      path: { workspace_id: other.id },
      token: other.token,
      body: { state: used.state, code },
    });
    const stale = await begun();
    await complete({ state: used.state, code });

    expect(elsewhere.status).toBe(404);
    expect((await complete({ state: used.state, code })).status).toBe(404);
    await cloud.clock.advance({ seconds: 15 * 60 });
    expect((await complete({ state: stale.state, code: await codeOf(stale.authorize_url) })).status).toBe(404);
  });

  test("machines sign in by password, client credentials, and a signed assertion", async () => {
    const { clientId: client_id, clientSecret: client_secret, username, password } = passwordOf();
    const private_key = signer.privateKey;
    const flows = [
      { kind: "password", client_id, client_secret, username, password },
      { kind: "client_credentials", client_id, client_secret },
      { kind: "jwt_bearer", client_id, username, private_key },
    ];

    for (const credentials of flows) {
      expect((await connect(credentials)).json).toMatchObject({ data: { username: "admin@bridge.example" } });
      const view = await call(readConnections, "read-connections", request());
      expect(view.json?.data).toMatchObject({ salesforce: { flow: credentials.kind, api_version: "68.0" } });
      for (const secret of [client_secret, password, private_key]) expect(view.text).not.toContain(secret);
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

  test.each([
    [
      "invalid_app_access",
      "user is not admin approved to access this app",
      "approve the user for the app by a permission set",
    ],
    ["app_not_found", "External client app is not installed in this org", "use the org's My Domain as login URL"],
    ["invalid_client", "app must be installed into org", "Connected Apps OAuth Usage, Install"],
  ])("connecting says what to do about %s: %s", async (code, message, remedy) => {
    const { clientId: client_id, clientSecret: client_secret } = passwordOf();
    await org.control("POST", "/faults", { kind: "refusedGrant", path: "oauth2/token", code, message });

    const refused = await connect({ kind: "client_credentials", client_id, client_secret });

    expect(refused.json?.error?.message).toContain(`Salesforce refused: ${message} (${code}); `);
    expect(refused.json?.error?.message).toContain(remedy);
  });

  describe("of an app with few scopes", () => {
    const scopes = (names: readonly string[] | null) => org.control("PUT", "/release", { scopes: names });
    afterEach(() => scopes(null));

    test("an org is connected that does not say who the user is, by what its token endpoint says", async () => {
      const { clientId: client_id, clientSecret: client_secret } = passwordOf();
      await scopes(["api"]);

      const answer = await connect({ kind: "client_credentials", client_id, client_secret });

      const { organizationId } = org.connection;
      const view = await call(readConnections, "read-connections", request());
      const { user_id } = dataOf<{ salesforce: { user_id: string } }>(view).salesforce;
      expect(user_id).toMatch(/^005\w{15}$/);
      expect(answer.json?.data).toMatchObject({ organization_id: organizationId, username: user_id });
      expect(view.json?.data).toMatchObject({ salesforce: { organization_id: organizationId } });
      expect(dataOf<Checked>(await call(testSalesforce, "test-salesforce", request())).ok).toBe(true);
    });

    test("an assertion is refused with the scope that is missing", async () => {
      const { clientId: client_id, username } = passwordOf();
      await scopes(["api"]);

      const refused = await connect({ kind: "jwt_bearer", client_id, username, private_key: signer.privateKey });

      expect(refused.json?.error?.message).toContain("add 'refresh_token, offline_access' to the app's scopes");
    });

    test("an outage of userinfo is no missing scope", async () => {
      const { clientId: client_id, clientSecret: client_secret } = passwordOf();
      await org.control("POST", "/faults", { kind: "unavailable", path: "userinfo" });

      expect((await connect({ kind: "client_credentials", client_id, client_secret })).status).toBe(400);
    });
  });

  test("an assertion that another key has signed is refused", async () => {
    const { clientId: client_id, username } = passwordOf();

    const refused = await connect({ kind: "jwt_bearer", client_id, username, private_key: pemPair().privateKey });

    expect(refused.status).toBe(400);
    expect(refused.json?.error?.message).toContain("invalid_grant");
  });

  test("a text that only looks like a private key is refused as none", async () => {
    const { clientId: client_id, username } = passwordOf();
    const private_key = "-----BEGIN PRIVATE KEY-----\nbm90IGEga2V5\n-----END PRIVATE KEY-----\n";

    const refused = await connect({ kind: "jwt_bearer", client_id, username, private_key });

    expect(refused.status).toBe(400);
    expect(refused.json?.error?.details?.[0]).toMatchObject({
      path: "body.credentials.private_key",
      message: expect.stringContaining("PEM"),
    });
  });

  longTest.each([
    ["invalid_grant", "ip restricted", "relax the app's IP restrictions"],
    ["invalid_grant", "user is locked", "unlock it (Setup, Users)"],
    ["inactive_user", "", "activate it (Setup, Users)"],
    ["rate_limit_exceeded", "login rate exceeded", "its Login History names the clients"],
  ])(
    "a check of the connection has the remedy for %s %s, which is not to connect again",
    async (code, message, remedy) => {
      const { clientId: client_id, clientSecret: client_secret } = passwordOf();
      await connect({ kind: "client_credentials", client_id, client_secret });
      await org.control("DELETE", "/sessions");
      await org.control("POST", "/faults", { kind: "refusedGrant", path: "oauth2/token", code, message });

      const { findings } = dataOf<Checked>(await call(testSalesforce, "test-salesforce", request()));

      expect(findings).toEqual([
        {
          check: "session",
          ok: false,
          message: `Salesforce refused: ${message || "no reason was given"} (${code})`,
          remedy: expect.stringContaining(remedy),
        },
      ]);
      expect(findings[0]?.remedy).not.toContain("connect the workspace");
    },
  );

  test("a site that answers every request with a page is reported as not Salesforce", async () => {
    const site = createServer((_, response) => response.end("<!DOCTYPE html><title>Welcome</title>"));
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    const { port } = site.address() as AddressInfo;

    const refused = await connect(
      { kind: "client_credentials", client_id: "a", client_secret: "b" },
      `http://127.0.0.1:${port}`,
    );

    await new Promise((resolve) => site.close(resolve));
    expect(refused.status).toBe(400);
    expect(refused.json?.error?.message).toContain("check the login URL");
  });

  test.each(["http://169.254.169.254/", "https://10.0.0.1", "http://[fd00::1]/"])(
    "nothing is sent to %s",
    async (loginUrl) => {
      const refused = await connect({ kind: "client_credentials", client_id: "a", client_secret: "b" }, loginUrl);

      expect(refused.json?.error?.details?.[0]?.path).toBe("body.login_url");
    },
  );

  test("a workspace with mappings is not moved to another org, where its rows would mean nothing", async () => {
    const made = await call(
      createMapping,
      "create-mapping",
      request({ body: { sf_object: "Contact", fields: ["LastName"] } }),
    );
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
    const listed = await call(listObjects, "list-objects", request());
    const read = (object_name: string) => call(readObject, "read-object", request({ path: { object_name } }));
    const contact = dataOf<{ fields: readonly { name: string }[] }>(await read("contact"));

    expect(dataOf<readonly { name: string }[]>(listed).map(({ name }) => name)).toContain("Contact");
    const field = (name: string) => contact.fields.find((one) => one.name === name);
    expect(field("LastName")).toMatchObject({
      type: "string",
      length: 80,
      required: true,
      mappable: true,
      pg_type: "varchar(80)",
    });
    expect(field("MailingAddress")).toMatchObject({ type: "address", mappable: false, pg_type: null });
    expect((await read("Nothing__c")).status).toBe(404);
    expect((await read("../limits")).status).toBe(404);
  });

  test("the records that match a filter are counted before a mapping has it", async () => {
    const read = (filter: string) =>
      call(readObject, "read-object", request({ path: { object_name: "User" }, query: { filter } }));
    const matching = async (filter: string) => dataOf<{ matching: number | null }>(await read(filter)).matching;
    const { username } = passwordOf();
    const misspelt = await read("Username LIKE");

    expect([await matching(`Username = '${username}'`), await matching("Username = 'other'")]).toEqual([1, 0]);
    expect([misspelt.status, misspelt.json?.error?.message]).toEqual([
      400,
      expect.stringMatching(/^the filter is not understood: at character 14 /),
    ]);
    expect((await read("Nme = 'Ada'")).json?.error?.message).toContain("there is no field Nme");
  });

  test("a lookup lists, when asked, the fields by which rows name its parent, and a mapping accepts them as listed", async () => {
    const asked = { path: { object_name: "Opportunity" } };
    const read = async (more: object) =>
      dataOf<{ fields: readonly { name: string; parent_keys: readonly { name: string }[] }[] }>(
        await call(readObject, "read-object", request({ ...asked, ...more })),
      );
    const plain = await read({});
    const withParents = await read({ query: { parents: "true" } });
    const keys = withParents.fields.find(({ name }) => name === "AccountId")?.parent_keys ?? [];

    expect(plain.fields.flatMap(({ parent_keys }) => parent_keys)).toEqual([]);
    expect(keys).toEqual([
      { name: "Account__External_Id__c", object: "Account", label: expect.stringMatching(/^Account: /) },
    ]);
    const body = { sf_object: "Opportunity", fields: ["Name", ...keys.map(({ name }) => name)] };
    const made = await call(createMapping, "create-mapping", request({ body }));
    expect(dataOf<{ fields: readonly string[] }>(made).fields).toEqual(["Account__External_Id__c", "Name"]);
  });

  describe("API version and token", () => {
    const release = (order: object) => org.control("PUT", "/release", order);
    const byClient = () => {
      const { clientId: client_id, clientSecret: client_secret } = passwordOf();
      return connect({ kind: "client_credentials", client_id, client_secret });
    };
    const saving = async () =>
      dataOf<Checked>(await call(testSalesforce, "test-salesforce", request())).findings.find(
        ({ check }) => check === "saving",
      );
    afterAll(() => release({ newestVersion: 68, jsonWebTokens: false }));

    test("an org is spoken to in the newest version that both sides know", async () => {
      await release({ newestVersion: 62 });
      expect((await byClient()).json?.data).toMatchObject({ api_version: "62.0" });

      await release({ newestVersion: 68 });
      expect((await byClient()).json?.data).toMatchObject({ api_version: "68.0" });
    });

    test("an app that issues JSON Web Tokens is refused where its org's SOAP does not take them, with what to do", async () => {
      const before = (await call(readConnections, "read-connections", request())).json?.data;
      await release({ newestVersion: 67, jsonWebTokens: true });

      const refused = await byClient();

      expect(refused.status).toBe(400);
      expect(refused.json?.error).toMatchObject({ code: "VALIDATION_ERROR", details: [{ path: "body.login_url" }] });
      expect(refused.json?.error?.message).toBe(
        "the app issues JSON Web Tokens, with which no record can be saved before API version 68.0, and the connection " +
          "uses 67.0: switch off 'Issue JSON Web Token (JWT)-based access tokens' in the app's OAuth settings, or wait " +
          "until the org speaks API version 68.0; then connect the workspace to Salesforce again",
      );
      expect((await call(readConnections, "read-connections", request())).json?.data).toEqual(before);
    });

    test("and is taken from version 68 on", async () => {
      await release({ newestVersion: 68, jsonWebTokens: true });

      expect((await byClient()).json?.data).toMatchObject({ api_version: "68.0" });
      expect(await saving()).toMatchObject({ ok: true, remedy: null });
    });

    test("an app that was switched to them is found by a check of the connection", async () => {
      await release({ newestVersion: 67, jsonWebTokens: false });
      await byClient();
      expect(await saving()).toMatchObject({ ok: true });
      await release({ jsonWebTokens: true });
      await org.control("DELETE", "/sessions");

      const found = await saving();

      expect(found).toMatchObject({ ok: false, message: expect.stringContaining("the connection uses 67.0") });
      expect(found?.remedy).toContain("switch off 'Issue JSON Web Token (JWT)-based access tokens'");
    });
  });

  test("every connection is in the audit log, without its secrets", async () => {
    const filter = { workspaceId: workspace.id, actor: null, action: "connection.salesforce_authorized" };
    const { entries } = await auditPage(filter, { limit: 10, offset: 0 });

    expect(entries[0]?.detail).toMatchObject({ flow: "client_credentials", username: "admin@bridge.example" });
    const { clientSecret, password } = passwordOf();
    for (const secret of [clientSecret, password, "PRIVATE KEY"]) expect(JSON.stringify(entries)).not.toContain(secret);
  });
});
