import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parseExposition } from "../support/checks/parse-exposition.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { type Receiver, startReceiver } from "../support/doubles/receiver.ts";
import { type ContractWorld, expectRefusal, startContractWorld } from "./world.ts";

const TIMESTAMP = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

let world: ContractWorld;
let accepted: number;
let refused: number;
beforeAll(async () => {
  world = await startContractWorld();
  accepted = await insertContact("Lovelace", "ada@example.com");
  refused = await insertContact("Refused", "not an address");
  await world.sql("INSERT INTO salesforce.account (name) VALUES ('waits, for its mapping is paused')");
  await world.until(accepted, "INSERTED");
  await world.until(refused, "FAILED");
});
afterAll(() => world.close());

async function insertContact(lastName: string, email: string): Promise<number> {
  const statement = "INSERT INTO salesforce.contact (lastname, email) VALUES ($1, $2) RETURNING id::int";
  const [row] = await world.sql<{ id: number }>(statement, [lastName, email]);
  return row?.id ?? 0;
}

describe("1 GET mappings", () => {
  const mapping = (sf_object: string, active: boolean) => ({
    id: expect.any(String),
    sf_object,
    pg_table: sf_object.toLowerCase(),
    sync_direction: "bidirectional",
    active,
    field_count: sf_object === "Contact" ? 2 : 1,
    created_at: TIMESTAMP,
  });

  test("lists the active mappings with exactly the fields of 2.2", async () => {
    const answer = await world.ask("GET", "/mappings");

    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ success: true, data: [mapping("Contact", true)] });
  });

  test("lists all of them when asked to", async () => {
    expect(await world.data("GET", "/mappings?include=inactive")).toEqual([
      mapping("Account", false),
      mapping("Contact", true),
    ]);
    expectRefusal(await world.ask("GET", "/mappings?include=all"), 400, "VALIDATION_ERROR");
  });
});

test("2 GET health shows both sides and the sync with exactly the fields of 2.3", async () => {
  expect(await world.data("GET", "/health")).toEqual({
    pg: { status: expect.stringMatching(/^(healthy|degraded)$/), latency_ms: expect.any(Number) },
    sf: { status: "healthy", org_id: world.bridge.org.connection.organizationId },
    sync: { status: "running", last_run_at: TIMESTAMP, pending_rows: 1 },
  });
});

describe("3 GET monitoring/activity", () => {
  test("lists trigger-log rows, most recent first, with exactly the fields of 2.4 and meta", async () => {
    const answer = await world.ask("GET", "/monitoring/activity");

    expect(answer.json?.meta).toEqual({ total: 3, limit: 50, offset: 0 });
    const row = (more: object) => ({
      id: expect.any(Number),
      action: "INSERT",
      created_at: TIMESTAMP,
      synced_at: null,
      sfid: null,
      ...more,
    });
    expect(answer.json?.data).toEqual([
      row({ table_name: "account", state: "NEW", _ab_lastop: "PENDING" }),
      row({ table_name: "contact", state: "FAILED", _ab_lastop: "FAILED" }),
      row({
        table_name: "contact",
        state: "SUCCESS",
        _ab_lastop: "INSERTED",
        sfid: expect.stringMatching(/^003[A-Za-z0-9]{15}$/),
        synced_at: TIMESTAMP,
      }),
    ]);
    const ids = dataOf<{ id: number }[]>(answer).map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted((one, other) => other - one));
  });

  test.each([
    ["?limit=999999", 3, { total: 3, limit: 200, offset: 0 }],
    ["?table=contact%27%20OR%20true%20--", 0, { total: 0, limit: 50, offset: 0 }],
    ["?unknown=1", 3, { total: 3, limit: 50, offset: 0 }],
  ])("%s gives %i rows and %o", async (query, rows, meta) => {
    const answer = await world.ask("GET", `/monitoring/activity${query}`);

    expect(answer.status, answer.text).toBe(200);
    expect(answer.json?.data).toHaveLength(rows);
    expect(answer.json?.meta).toEqual(meta);
  });

  test.each([
    ["limit=abc", "limit"],
    ["limit=0", "limit"],
    ["limit=-1", "limit"],
    ["limit=1.5", "limit"],
    ["limit=1e2", "limit"],
    ["limit=", "limit"],
    ["limit=%00", "limit"],
    ["limit=5&limit=6", "limit"],
    ["offset=-1", "offset"],
    ["offset=x", "offset"],
    ["offset=99999999999999999999", "offset"],
    ["state=new", "state"],
    ["state=DONE", "state"],
    ["state=", "state"],
    ["table=", "table"],
    ["table=%00", "table"],
    [`table=${"x".repeat(256)}`, "table"],
  ])("%s is refused by name", async (query, path) => {
    for (const list of ["activity", "errors"]) {
      if (list === "errors" && path === "state") continue;
      const error = expectRefusal(await world.ask("GET", `/monitoring/${list}?${query}`), 400, "VALIDATION_ERROR");
      expect(error?.details).toEqual([{ path, message: expect.any(String) }]);
      expect(error?.message).toContain(path);
    }
  });
});

test("4 GET monitoring/errors lists failed rows with exactly the fields of 2.4, and says why", async () => {
  const answer = await world.ask("GET", "/monitoring/errors?table=contact&limit=1");

  expect(answer.json).toEqual({
    success: true,
    data: [
      {
        id: expect.any(Number),
        table_name: "contact",
        sfid: null,
        action: "INSERT",
        state: "FAILED",
        _ab_err: expect.stringMatching(/^INVALID_EMAIL_ADDRESS: .*\[Email\]$/),
        created_at: TIMESTAMP,
      },
    ],
    meta: { total: 1, limit: 1, offset: 0 },
  });
});

describe("5 POST poll-now", () => {
  test.each([undefined, "", "{}", "{", "[1]"])("runs a cycle at once, whatever its body (%j)", async (body) => {
    await world.bridge.host.settle();
    const request = body === undefined ? {} : { body, headers: { "Content-Type": "application/json" } };

    const result = await world.data<{ triggered: boolean }>("POST", `/mappings/${world.contactId}/poll-now`, request);

    expect(result).toEqual({
      triggered: expect.any(Boolean),
      mapping_id: world.contactId,
      message: expect.stringContaining("appear in monitoring within seconds"),
    });
    const [entry] = await world.data<object[]>("GET", "/audit-log?action=mapping.poll_triggered");
    expect(entry).toMatchObject({ actor: "owner@example.com", resource_id: world.contactId });
  });

  test("of an inactive mapping starts nothing and says why", async () => {
    expect(await world.data("POST", `/mappings/${world.accountId}/poll-now`)).toEqual({
      triggered: false,
      mapping_id: world.accountId,
      message: expect.stringContaining("not active"),
    });
  });
});

test("6 POST abort says when there is nothing to abort", async () => {
  expect(await world.data("POST", `/mappings/${world.accountId}/abort`)).toEqual({
    aborted: false,
    message: expect.stringContaining("No cycle"),
  });
});

describe("7, 8 export and import", () => {
  test("an export has exactly the keys of 2.7, and Bridge's own", async () => {
    const document = await world.data<{ mappings: unknown[] }>("GET", "/config/export");

    expect(document).toEqual({
      version: 1,
      mappings: [
        { object_name: "Account", config: expect.any(Object) },
        {
          object_name: "Contact",
          config: {
            sf_notify_enabled: false,
            sf_polling_seconds: 10,
            fields: { Email: {}, LastName: {} },
            access: "read_write",
            bridge: expect.any(Object),
          },
        },
      ],
    });
  });

  test("an export imported again changes nothing, in its envelope and bare", async () => {
    const { text } = await world.ask("GET", "/config/export");

    for (const body of [text, JSON.parse(text).data]) {
      expect(await world.data("POST", "/config/import", { body })).toEqual({ created: 0, updated: 0, skipped: 2 });
    }
    expect((await world.ask("GET", "/config/export")).text).toBe(text);
  });

  test("only JSON is accepted, and no more than 1 MiB of it", async () => {
    const { text } = await world.ask("GET", "/config/export");
    const plain = { body: "{}", headers: { "Content-Type": "text/plain" } };
    expectRefusal(await world.ask("POST", "/config/import", plain), 415, "UNSUPPORTED_MEDIA_TYPE");
    expectRefusal(await world.ask("POST", "/config/import", { body: "{" }), 400, "VALIDATION_ERROR");
    const large = { body: " ".repeat(1024 * 1024 + 1) };
    expectRefusal(await world.ask("POST", "/config/import", large), 413, "PAYLOAD_TOO_LARGE");
    expect((await world.ask("GET", "/config/export")).text).toBe(text);
  });
});

test("9, 10 a baseline is pinned, and drift is measured against it", async () => {
  expectRefusal(await world.ask("GET", "/config/drift"), 404, "BASELINE_NOT_FOUND");

  const baseline = await world.data("POST", "/config/baseline");
  const drift = await world.data("GET", "/config/drift");

  expect(baseline).toEqual({ baseline_id: expect.any(String), captured_at: TIMESTAMP });
  expect(drift).toEqual({ ...(baseline as object), drifted: false, changes: [] });
});

describe("11, 12 GET audit-log", () => {
  test("lists entries, most recent first, with exactly the fields of 2.11 and meta", async () => {
    const answer = await world.ask("GET", "/audit-log?action=mapping.created");

    expect(answer.json?.meta).toEqual({ total: 2, limit: 50, offset: 0 });
    const entry = (sf_object: string) => ({
      id: expect.any(String),
      actor: "owner@example.com",
      action: "mapping.created",
      resource_type: "mapping",
      resource_id: expect.any(String),
      detail: { sf_object, pg_table: sf_object.toLowerCase() },
      created_at: TIMESTAMP,
    });
    expect(answer.json?.data).toEqual([entry("Account"), entry("Contact")]);
  });

  test("filters by actor, whatever its case, and by action match exactly", async () => {
    const total = async (query: string) => (await world.ask("GET", `/audit-log?${query}`)).json?.meta?.total;

    expect(await total("actor=Owner@Example.com")).toBeGreaterThan(4);
    expect(await total("actor=nobody@example.com")).toBe(0);
    expect(await total("action=mapping")).toBe(0);
    expect(await total("actor=owner@example.com&action=token.created")).toBe(1);
  });

  test.each(["limit=x", "limit=0", "offset=-1", "format=xml", "actor=", "action=%00"])(
    "%s is refused",
    async (query) => {
      expectRefusal(await world.ask("GET", `/audit-log?${query}`), 400, "VALIDATION_ERROR");
    },
  );

  test("as CSV is a file with the same entries under the same filters, all of them", async () => {
    const answer = await world.ask("GET", "/audit-log?format=csv&action=mapping.created");

    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/csv");
    expect(answer.headers.get("content-disposition")).toMatch(/^attachment; ?filename="?audit-log\.csv"?$/);
    const [columns, ...rows] = parse(answer.text) as string[][];
    expect(columns).toEqual(["id", "created_at", "actor", "action", "resource_type", "resource_id", "detail"]);
    expect(rows.map(([, , , action]) => action)).toEqual(["mapping.created", "mapping.created"]);
  });
});

describe("13, 14 deliveries", () => {
  let receiver: Receiver;
  let webhook: { readonly id: string };
  beforeAll(async () => {
    receiver = await startReceiver(200);
    webhook = await world.data("POST", "/webhooks", { body: { url: receiver.url, events: ["sync.broken"] } });
    await world.data("POST", `/webhooks/${webhook.id}/test`);
  });
  afterAll(() => receiver.close());

  const delivery = () =>
    vi.waitFor(
      async () => {
        const [first] = await world.data<{ id: string; status: string }[]>("GET", `/webhooks/${webhook.id}/deliveries`);
        expect(first?.status).toBe("successful");
        return first;
      },
      { timeout: 300_000, interval: 100 },
    );

  test("are listed with exactly the fields of 2.12", async () => {
    expect(await delivery()).toEqual({
      id: expect.any(String),
      event: "sync.broken",
      status: "successful",
      response_code: 200,
      delivered_at: TIMESTAMP,
      next_retry_at: null,
    });
  });

  test("can be tried again, also a successful one, and the receiver is called again", async () => {
    const id = (await delivery())?.id;
    const before = receiver.received.length;

    const result = await world.data("POST", `/webhooks/${webhook.id}/deliveries/${id}/retry`);

    expect(result).toEqual({ queued: true, delivery_id: id });
    await vi.waitFor(() => expect(receiver.received).toHaveLength(before + 1), { timeout: 300_000, interval: 50 });
  });
});

describe("15 GET /api/metrics", () => {
  test("needs no token and has the content type and the four metrics of 4.2", async () => {
    for (const url of [`${world.bridge.baseUrl}/api/metrics`, world.bridge.metricsUrl]) {
      const response = await fetch(url);

      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4");
      const metrics = parseExposition(await response.text());
      const inWorkspace = metrics.map(({ name, type, samples }) => ({
        name,
        type,
        labels: samples
          .filter(({ labels }) => labels["workspace_id"] === world.workspace.id)
          .map(({ labels: { workspace_id: _, ...labels } }) => labels),
      }));
      // What is Bridge's own comes behind the contract's, under other names.
      const [contract, own] = [inWorkspace.slice(0, 4), inWorkspace.slice(4).map(({ name }) => name)];
      expect(own).toEqual([...new Set(own)].filter((name) => name.startsWith("bridge_")));
      expect(own.filter((name) => contract.some((one) => one.name === name))).toEqual([]);
      expect(contract).toEqual([
        { name: "bridge_sync_rows_total", type: "counter", labels: [{ object: "Account" }, { object: "Contact" }] },
        { name: "bridge_sync_errors_total", type: "counter", labels: [{ object: "Account" }, { object: "Contact" }] },
        { name: "bridge_trigger_log_queue_depth", type: "gauge", labels: [{}] },
        {
          name: "bridge_sf_api_calls_total",
          type: "counter",
          labels: expect.arrayContaining([{ api: "SOAP" }, { api: "REST" }]),
        },
      ]);
    }
  });
});

describe("errors (7)", () => {
  test.each([
    ["POST", "/mappings/map_none/poll-now", 404, "MAPPING_NOT_FOUND"],
    ["POST", "/mappings/map_none/abort", 404, "MAPPING_NOT_FOUND"],
    ["GET", "/webhooks/whk_none/deliveries", 404, "WEBHOOK_NOT_FOUND"],
    ["GET", "/webhooks/whk_none/deliveries?limit=x", 404, "WEBHOOK_NOT_FOUND"],
    ["POST", "/webhooks/whk_none/deliveries/dlv_none/retry", 404, "WEBHOOK_NOT_FOUND"],
    ["GET", "/nothing", 404, "NOT_FOUND"],
    ["GET", "/config/nothing", 404, "NOT_FOUND"],
  ])("%s %s: %i %s", async (method, path, status, code) => {
    const answer = await world.ask(method, path);

    expectRefusal(answer, status, code);
  });

  test.each([
    ["GET", "/api/v1/t/ws_1/mappings/map_none/poll-now", "POST"],
    ["DELETE", "/api/v1/t/ws_1/mappings", "GET, POST"],
    ["PUT", "/api/v1/t/ws_1/config/import", "POST"],
    ["POST", "/api/metrics", "GET"],
    ["POST", "/", "GET"],
    ["PUT", "/assets/index-1.js", "GET"],
  ])("%s %s is refused with the methods that it has: 405", async (method, path, allowed) => {
    const answer = await world.bridge.request(method, path);

    expectRefusal(answer, 405, "METHOD_NOT_ALLOWED");
    expect(answer.headers.get("allow")).toBe(allowed);
  });

  test.each(["/nowhere", "/api/v1", "/api/v2/t/x/mappings", "/%00", "/..%2f..", "//api//metrics"])(
    "an unknown path (%s) is answered in the envelope",
    async (path) => {
      const answer = await world.bridge.request("GET", path, { token: world.workspace.token });

      expectRefusal(answer, 404, "NOT_FOUND");
    },
  );

  test("a workspace that does not exist says that it was not found or access was denied", async () => {
    const answer = await world.bridge.request("GET", "/api/v1/t/ws_none/mappings", { token: world.workspace.token });

    expect(expectRefusal(answer, 404, "WORKSPACE_NOT_FOUND")?.message).toMatch(/not found or access denied/);
  });
});

test.each([
  ...["/", "/docs", "/docs/security", "/docs/none", "/assets/none.js", "/docs/errors", "/openapi", "/openapi.json"],
  ...["/api/metrics", "/api/v1/none", "/api/v1/t/ws_none/mappings"],
])("the answer at %s is what its type says, and is shown in no frame", async (path) => {
  const { headers } = await world.bridge.request("GET", path);

  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("content-security-policy")).toMatch(/^default-src 'none';.*frame-ancestors 'none'/);
});

const ITS_OWN_STYLE =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const NOTHING = "default-src 'none'; frame-ancestors 'none'";

describe.each([
  ["/openapi", "text/html; charset=utf-8", ITS_OWN_STYLE, "<h1>Bridge API</h1>"],
  ["/openapi.json", "application/json", NOTHING, '"openapi":"3.1.1"'],
  ["/docs/errors", "text/html; charset=utf-8", ITS_OWN_STYLE, '<article id="RATE_LIMITED">'],
])("the description of the API at %s", (path, type, policy, text) => {
  test("is answered without a token and kept by no cache, for GET alone", async () => {
    const answer = await world.bridge.request("GET", `${path}?of=nothing`);
    const slash = await world.bridge.request("GET", `${path}/`);
    const below = await world.bridge.request("GET", `${path}/more`);
    const others = ["POST", "DELETE", "HEAD"].map((method) => fetch(`${world.bridge.baseUrl}${path}`, { method }));

    expect([answer.status, slash.status]).toEqual([200, 200]);
    expect(answer.text).toContain(text);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": type,
      "content-security-policy": policy,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-request-id": expect.stringMatching(/^req_/),
    });
    expectRefusal(below, 404, "NOT_FOUND");
    for (const { status, headers } of await Promise.all(others))
      expect([status, headers.get("allow")]).toEqual([405, "GET"]);
  });
});
