import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { ROUTES, type RouteName } from "../../lib/http/routes.ts";
import { eachCliWorld } from "./world.ts";

const EXAMPLES = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../lib/http/openapi/examples.json"), "utf8"),
) as Readonly<Record<string, { readonly response: { readonly data: unknown; readonly meta?: object } }>>;

const dataOf = (route: RouteName): unknown => EXAMPLES[route]?.response.data;
const idIn = (route: RouteName): string => (dataOf(route) as readonly { readonly id: string }[])[0]?.id ?? "";

const IDS: Readonly<Record<string, string>> = {
  mapping_id: idIn("list-mapping-states"),
  webhook_id: idIn("list-webhooks"),
  delivery_id: idIn("list-deliveries"),
  token_id: idIn("list-tokens"),
  object_name: "Contact",
  conflict_id: "1",
  change_id: "2",
  row_id: "2",
  table: "contact",
  key: "1",
};
const [WEBHOOK = "", DELIVERY = "", TOKEN = ""] = [IDS["webhook_id"], IDS["delivery_id"], IDS["token_id"]];

const world = eachCliWorld();
let file: string;
beforeEach(() => {
  file = world.line.file("document.json", JSON.stringify(dataOf("export-config")));
  for (const [name, { response }] of Object.entries(EXAMPLES)) {
    const { method, path } = ROUTES[name as RouteName];
    const below = path.replace("/api/v1/t/{workspace_id}", "").replace(/\{(\w+)\}/g, (_, id: string) => IDS[id] ?? "");
    world.answer(`${method} ${below}`, response.data, response.meta);
  }
});

/** A database's URL is read from standard input; other commands leave it there. */
const TYPED = { stdin: "postgres://bridge:pw@db.example.com/acme\n" };

const json = async (line: string) => {
  const { code, stdout } = await world.run(`${line.replace("FILE", file)} --json`, TYPED);
  return { code, data: JSON.parse(stdout) as unknown };
};

/** Commands that show or do one thing: a program gets all that the service answered, as it answered it. */
const COMMANDS: readonly (readonly [line: string, route: RouteName])[] = [
  ["health", "read-health"],
  ["budget", "read-budget"],
  ["activity", "list-activity"],
  ["errors", "list-errors"],
  ["errors --grouped", "list-failures"],
  ["errors --retry 2", "retry-row"],
  ["errors --dismiss 2", "dismiss-rows"],
  ["inbound-errors", "list-inbound-errors"],
  ["conflicts", "list-conflicts"],
  ["conflicts --use-other 1", "use-other-value"],
  ["row contact 1", "read-row-story"],
  ["audit", "list-audit-log"],
  ["connections", "read-connections"],
  ["connect salesforce --test", "test-salesforce"],
  ["connect postgres --test", "test-postgres"],
  ["schema changes bridge", "change-postgres"],
  ["schema connections 5", "change-postgres"],
  ["objects", "list-objects"],
  ["workspace show", "read-workspace"],
  ["workspace rename Acme", "rename-workspace"],
  ["pause", "switch-pause"],
  ["resume", "switch-pause"],
  ["mapping list", "list-mapping-states"],
  ["mapping show contact", "read-mapping"],
  ["mapping create Contact --fields LastName", "create-mapping"],
  ["mapping update contact --add-field Email", "update-mapping"],
  ["mapping activate contact", "activate-mapping"],
  ["mapping deactivate contact", "deactivate-mapping"],
  ["mapping reload contact", "reload-mapping"],
  ["mapping compare contact", "compare-mapping"],
  ["mapping delete contact --yes", "delete-mapping"],
  ["mapping held-deletes contact", "list-held-deletes"],
  ["mapping capture contact --mine --yes", "capture-mapping"],
  ["poll contact --no-wait", "poll-now"],
  ["abort contact", "abort-poll"],
  ["nudge", "nudge"],
  ["doorbell", "read-doorbell"],
  ["doorbell --rotate", "make-doorbell"],
  ["doorbell --remove", "remove-doorbell"],
  ["config export", "export-config"],
  [`config import FILE`, "import-config"],
  [`config plan FILE`, "import-config"],
  ["config baseline", "save-baseline"],
  ["config drift", "read-drift"],
  ["webhook list", "list-webhooks"],
  [`webhook show ${WEBHOOK}`, "read-webhook"],
  ["webhook create https://hooks.example.com/ --events sync.broken", "create-webhook"],
  [`webhook update ${WEBHOOK} --pause`, "change-webhook"],
  [`webhook delete ${WEBHOOK} --yes`, "delete-webhook"],
  [`webhook rotate ${WEBHOOK}`, "rotate-webhook-secret"],
  [`webhook test ${WEBHOOK}`, "test-webhook"],
  [`webhook deliveries ${WEBHOOK}`, "list-deliveries"],
  [`webhook delivery ${WEBHOOK} ${DELIVERY}`, "read-delivery"],
  [`webhook retry ${WEBHOOK} ${DELIVERY}`, "retry-delivery"],
  ["token list", "list-tokens"],
  ["token create monitor --owner ada@example.com", "create-token"],
  [`token revoke ${TOKEN}`, "revoke-token"],
];

test.each(COMMANDS)("bridge %s --json is the whole answer of %s", async (line, route) => {
  expect((await json(line)).data).toEqual(dataOf(route));
});

describe("the exit code of what was looked at (command-line.md)", () => {
  const well = dataOf("read-health") as { readonly pg: object; readonly sf: object; readonly sync: object };
  const drift = dataOf("read-drift") as object;
  const ok = (isOk: boolean) => ({ ...(dataOf("test-salesforce") as object), ok: isOk });
  const { mappings: bells, ...bell } = dataOf("read-doorbell") as { readonly mappings: readonly object[] };
  const doorbell = (state: string) => ({ ...bell, mappings: bells.map((one) => ({ ...one, state })) });
  const mapping = (state: string) => ({ ...(dataOf("read-mapping") as object), state });

  test.each([
    ["health", 0, "GET /health", well],
    ["health", 10, "GET /health", { ...well, pg: { ...well.pg, status: "degraded" } }],
    ["health", 10, "GET /health", { ...well, sf: { ...well.sf, status: "degraded" } }],
    ["health", 10, "GET /health", { ...well, sync: { ...well.sync, status: "broken" } }],
    ["config drift", 0, "GET /config/drift", { ...drift, drifted: false, changes: [] }],
    ["config drift", 10, "GET /config/drift", drift],
    ["connect salesforce --test", 0, "POST /connections/salesforce/test", ok(true)],
    ["connect salesforce --test", 10, "POST /connections/salesforce/test", ok(false)],
    ["connect postgres --test", 0, "POST /connections/postgres/test", ok(true)],
    ["connect postgres --test", 10, "POST /connections/postgres/test", ok(false)],
    ["doorbell", 0, "GET /doorbell", doorbell("alive")],
    ["doorbell", 0, "GET /doorbell", doorbell("waiting")],
    ["doorbell", 10, "GET /doorbell", doorbell("dead")],
    ["mapping show contact", 0, `GET /mappings/${IDS["mapping_id"]}`, mapping("ready")],
    ["mapping show contact", 0, `GET /mappings/${IDS["mapping_id"]}`, mapping("paused")],
    ["mapping show contact", 10, `GET /mappings/${IDS["mapping_id"]}`, mapping("broken")],
    ["mapping show contact", 10, `GET /mappings/${IDS["mapping_id"]}`, mapping("provisioning_failed")],
    ["mapping show contact", 10, `GET /mappings/${IDS["mapping_id"]}`, mapping("migration_pending")],
  ])("of %s is %i, for people and for programs", async (line, code, call, answer) => {
    world.answer(call, answer);

    const shown = await world.run(line, TYPED);

    expect([shown.code, (await json(line)).code]).toEqual([code, code]);
  });
});
