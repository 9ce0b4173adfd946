import { expect, test } from "vitest";
import { findIncidents } from "../../lib/health/find-incidents.ts";
import { FRESH_BUDGET } from "../../lib/model/calls/budget.ts";
import type { Webhook } from "../../lib/model/delivery/webhook.ts";
import { FAILURE_REASONS, type FailureReason, HEALTHY, reasonFor } from "../../lib/model/engine.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { contactShape, mappingOf } from "../support/worlds/shapes.ts";

const NOW = new Date("2026-11-29T05:45:00Z");
const SINCE = new Date("2026-11-29T05:40:00Z");
const LATER = new Date("2026-11-29T05:50:00Z");

const mapping = (id: string, sfObject: string): Mapping => ({
  ...mappingOf(contactShape({ mappingId: id })),
  ...{ sfObject, active: true, provisioning: { state: "ready", version: 1 } as Mapping["provisioning"] },
});
const MAPPINGS = [mapping("map_1", "Account"), mapping("map_2", "Contact")];

const report = (mappingId: string, reason: FailureReason | null) => ({
  ...HEALTHY,
  ...{ mappingId, broken: reason !== null, failure: reason, message: reason && "SAID.; helps" },
  said: reason && { message: "SAID.", remedy: undefined },
  ...{ failingSince: mappingId === "map_1" ? SINCE : NOW, brokenSince: SINCE, restUntil: LATER },
});

type Seen = Parameters<typeof findIncidents>[0];

const seen = (more: Partial<Seen> = {}, failing: readonly (FailureReason | null)[] = [null, null]): Seen => ({
  ...{ mappings: MAPPINGS, paused: false, address: "db.example:5432", orgAnswers: true, webhooks: [] },
  engine: {
    mappings: failing.map((reason, at) => report(`map_${at + 1}`, reason)),
    ...{ usage: null, budget: FRESH_BUDGET, upgradeRefusal: null },
  },
  database: {
    signs: [],
    backlogs: [0, 3].map((waiting, at) => ({ id: `map_${at + 1}`, waiting, failed: 0, refusal: null })),
  },
  ...more,
});

const hook = { id: "whk_1", url: "https://hooks.example/secret", active: true, failingSince: null, updatedAt: SINCE };
const webhook = (more: Partial<Webhook>) => ({ ...hook, ...more }) as Webhook;

/** Of each fault by hand: the cause, what happened, the remedy, and the command that runs it. */
const FAULTS: Readonly<Record<string, readonly [Seen, string, string, string, string]>> = {
  "the calls are used up": [
    seen({}, ["salesforce_limit", "salesforce_limit"]),
    "salesforce_limit",
    "Salesforce refuses every call: the org's API calls of the last 24 hours are used up",
    "wait until calls of the last 24 hours expire, or raise the org's API limit; changes wait meanwhile",
    "bridge poll Account",
  ],
  "the org is read only": [
    seen({}, [null, "org_read_only"]),
    "org_read_only",
    "the org is read only",
    "wait until Salesforce's maintenance ends (status.salesforce.com); changes wait and are sent then",
    "bridge poll Contact",
  ],
  "the token is revoked": [
    seen({}, ["salesforce_authorization", "salesforce_authorization"]),
    "salesforce_authorization",
    "Salesforce refuses Bridge's sign-in",
    "connect the workspace to Salesforce again",
    "bridge connect salesforce",
  ],
  "PostgreSQL is frozen, which no cycle has met": [
    seen({ database: null }),
    "postgres_unavailable",
    "PostgreSQL db.example:5432 does not answer as it should",
    "check that the server runs and accepts Bridge's connections; bridge doctor says more",
    "bridge doctor",
  ],
  "a column is dropped": [
    seen({}, [null, "column_gone"]),
    "column_gone",
    "Contact: a mapped column is gone",
    "give the column its name back, or take its field out of the mapping; meanwhile the application can write, but nothing is pulled or sent",
    "bridge poll Contact",
  ],
  "the triggers are gone": [
    seen({}, [null, "capture_off"]),
    "capture_off",
    "Contact: changes of the table are not captured",
    "choose with bridge mapping capture: --salesforce discards what was written meanwhile, --mine sends every row; nothing is pulled or sent until then",
    "bridge mapping capture Contact --salesforce",
  ],
  "rows are refused": [
    seen({ database: { signs: [], backlogs: [{ id: "map_2", waiting: 0, failed: 400, refusal: "SAID." }] } }),
    "rows_refused",
    "Salesforce refused 400 rows of Contact",
    "correct the values in the rows; Bridge then sends them again",
    "bridge errors --grouped",
  ],
  "a webhook fails": [
    seen({ webhooks: [webhook({ failingSince: SINCE })] }),
    "webhook_failing",
    "the webhook whk_1 at https://hooks.example accepts no delivery",
    "check its answers; once it accepts deliveries, replay those that were given up",
    "bridge webhook deliveries whk_1",
  ],
  "a webhook is paused": [
    seen({ webhooks: [webhook({ active: false })] }),
    "webhook_paused",
    "the webhook whk_1 at https://hooks.example is paused: it receives no events",
    "resume it, then replay the events of the pause",
    "bridge webhook update whk_1 --resume",
  ],
};

test.each(Object.entries(FAULTS))("%s: one incident says what happened and what helps", (_, [found, ...by]) => {
  const [cause, message, remedy, command] = by;

  const incidents = findIncidents(found, NOW);

  expect(incidents.map((one) => [one.cause, one.message, one.remedy, one.commands[0]])).toEqual([
    [cause, message, remedy, command],
  ]);
  expect(incidents.map(({ stops }) => stops)).toEqual([!/^(rows|webhook)_/.test(cause)]);
  if (/^webhook_/.test(cause))
    expect(incidents[0]?.commands[1]).toBe("bridge webhook replay whk_1 --since 2026-11-29T05:40:00.000Z");
});

test("mappings that share an org or a database are one incident, with all that waits and the first next try", () => {
  const [limit] = findIncidents(seen({}, ["salesforce_limit", "salesforce_limit"]), NOW);
  const apart = findIncidents(seen({}, ["column_gone", "column_gone"]), NOW);

  const objects = ["Account", "Contact"];
  expect(limit).toMatchObject({ objects, waiting: 3, since: SINCE, nextTryAt: LATER, said: "SAID." });
  expect(apart.map(({ objects }) => objects)).toEqual([["Account"], ["Contact"]]);
  expect(findIncidents(seen({}, ["salesforce_limit"]), LATER)[0], "the rest is over").toMatchObject({
    nextTryAt: null,
  });
});

test("what a person has paused is no incident, and a workspace that is well has none", () => {
  const paused = seen({ paused: true, database: null, orgAnswers: false }, ["salesforce_limit", "column_gone"]);

  expect(findIncidents(paused, NOW)).toEqual([]);
  expect(findIncidents(seen(), NOW)).toEqual([]);
});

test("an org that does not answer is an incident before a cycle has met it, and the address of a database is hidden", () => {
  const found = findIncidents(seen({ orgAnswers: false, database: null, address: null }), NOW);

  expect(found.map(({ message }) => message)).toEqual([
    "PostgreSQL does not answer as it should",
    "Salesforce does not answer as it should",
  ]);
});

test.each(FAILURE_REASONS)("%s names its commands whole, and when rows are sent", (reason) => {
  const [{ commands } = { commands: [] }] = findIncidents(seen({}, [null, reason]), NOW);

  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands) expect(command).toMatch(/^bridge [a-z]+( [\w-]+)*$/);
  expect(reasonFor(reason).sentWhen).toMatch(/^(once|when) /);
});
