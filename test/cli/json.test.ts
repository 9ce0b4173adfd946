import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { ROUTES, type RouteName } from "../../lib/http/routes.ts";
import { eachCliWorld } from "./world.ts";

const EXAMPLES = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../lib/http/openapi/examples.json"), "utf8"),
) as Readonly<Record<string, { readonly response: { readonly data: unknown; readonly meta?: object } }>>;

const dataOf = (route: RouteName): unknown => EXAMPLES[route]?.response.data;
const idIn = (route: RouteName): string => (dataOf(route) as readonly { readonly id: string }[])[0]?.id ?? "";

const LISTS = ["list-mapping-states", "list-webhooks", "list-deliveries", "list-tokens"] as const;
const [MAPPING = "", WEBHOOK = "", DELIVERY = "", TOKEN = ""] = LISTS.map(idIn);
const IDS: Readonly<Record<string, string>> = {
  ...{ mapping_id: MAPPING, webhook_id: WEBHOOK, delivery_id: DELIVERY, token_id: TOKEN },
  ...{ object_name: "Contact", conflict_id: "1", change_id: "2", row_id: "2", table: "contact", key: "1" },
};

const world = eachCliWorld();
let file: string;
beforeEach(() => {
  file = world.line.file("document.json", JSON.stringify(dataOf("export-config")));
  for (const [route, { response }] of Object.entries(EXAMPLES))
    world.answer(callOf(route as RouteName), response.data, response.meta);
});

function callOf(route: RouteName): string {
  const { method, path } = ROUTES[route];
  return `${method} ${path.replace("/api/v1/t/{workspace_id}", "").replace(/\{(\w+)\}/g, (_, id) => IDS[id] ?? "")}`;
}

/** A database's URL is read from standard input; other commands leave it there. */
const TYPED = { stdin: "postgres://bridge:pw@db.example.com/acme\n" };

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
  const { stdout } = await world.run(`${line.replace("FILE", file)} --json`, TYPED);

  expect(JSON.parse(stdout)).toEqual(dataOf(route));
});

/** That of a doorbell: doorbell.test.ts. */
test.each<[line: string, route: RouteName, changes: Readonly<Record<string, unknown>>, code: number]>([
  ["health", "read-health", {}, 0],
  ["health", "read-health", { pg: { status: "degraded" } }, 10],
  ["health", "read-health", { sf: { status: "degraded" } }, 10],
  ["health", "read-health", { sync: { status: "broken" } }, 10],
  ["config drift", "read-drift", { drifted: false, changes: [] }, 0],
  ["config drift", "read-drift", {}, 10],
  ["connect salesforce --test", "test-salesforce", { ok: true }, 0],
  ["connect salesforce --test", "test-salesforce", { ok: false }, 10],
  ["connect postgres --test", "test-postgres", { ok: true }, 0],
  ["connect postgres --test", "test-postgres", { ok: false }, 10],
  ["mapping show contact", "read-mapping", { state: "ready" }, 0],
  ["mapping show contact", "read-mapping", { state: "paused" }, 0],
  ["mapping show contact", "read-mapping", { state: "broken" }, 10],
  ["mapping show contact", "read-mapping", { state: "provisioning_failed" }, 10],
  ["mapping show contact", "read-mapping", { state: "migration_pending" }, 10],
])("%s of the answer of %s with %j ends with %i, for people and for programs", async (line, route, changes, code) => {
  const whole = dataOf(route) as Readonly<Record<string, unknown>>;
  const merged = (part: unknown, now: unknown) =>
    typeof now === "object" && !Array.isArray(now) ? { ...(part as object), ...now } : now;
  const changed = Object.entries(changes).map(([name, now]) => [name, merged(whole[name], now)]);
  world.answer(callOf(route), { ...whole, ...Object.fromEntries(changed) });

  const ended = [await world.run(line, TYPED), await world.run(`${line} --json`, TYPED)];

  expect(ended.map((one) => one.code)).toEqual([code, code]);
});
