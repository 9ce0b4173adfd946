import { expect, test, vi } from "vitest";
import { handler as abortPoll } from "../../functions/api/abort-poll.ts";
import { handler as activateMapping } from "../../functions/api/activate-mapping.ts";
import { handler as confirmDeletes } from "../../functions/api/confirm-deletes.ts";
import { handler as deactivateMapping } from "../../functions/api/deactivate-mapping.ts";
import { handler as deleteMapping } from "../../functions/api/delete-mapping.ts";
import { handler as pollNow } from "../../functions/api/poll-now.ts";
import { handler as pushExisting } from "../../functions/api/push-existing.ts";
import { handler as rejectDeletes } from "../../functions/api/reject-deletes.ts";
import { handler as reloadMapping } from "../../functions/api/reload-mapping.ts";
import { handler as restoreMapping } from "../../functions/api/restore-mapping.ts";
import { handler as retryRows } from "../../functions/api/retry-rows.ts";
import { handler as startDryRun } from "../../functions/api/start-dry-run.ts";
import { handler as updateMapping } from "../../functions/api/update-mapping.ts";
import type { RouteName } from "../../lib/http/routes.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { call } from "../support/clients/call.ts";
import type { BridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { carryOut } from "../support/worlds/carry-out.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { tokenFor } from "../support/worlds/workspace.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

/** Each pair once by default: `ROUNDS=10000 vitest run --mode long test/settings/writing-pairs`. */
const ROUNDS = Number(process.env["ROUNDS"] ?? 0);

vi.setConfig({ testTimeout: ROUNDS > 0 ? ROUNDS * 10_000 : 300_000 });

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
let token: string;
aWorldForEachTest(async (made) => {
  ({ cloud, world } = made);
  contact = await mapped(world, { object: "Contact", fields: ["LastName", "Email"] });
  token = await tokenFor(world.workspaceId);
});

type Asked = readonly [RouteName, Parameters<typeof call>[0], (round: number) => object];

/** Every route that changes rows, or the state of a mapping's tables. */
const ROUTES: readonly Asked[] = [
  ["reload-mapping", reloadMapping, () => ({})],
  ["retry-rows", retryRows, () => ({ body: { table: "contact" } })],
  ["push-existing", pushExisting, () => ({})],
  ["confirm-deletes", confirmDeletes, () => ({})],
  ["reject-deletes", rejectDeletes, () => ({ body: {} })],
  ["start-dry-run", startDryRun, () => ({})],
  ["abort-poll", abortPoll, () => ({})],
  ["poll-now", pollNow, () => ({})],
  ["update-mapping", updateMapping, (round) => ({ body: { sf_polling_seconds: 10 + (round % 50) } })],
  ["deactivate-mapping", deactivateMapping, () => ({})],
  ["activate-mapping", activateMapping, () => ({})],
  ["delete-mapping", deleteMapping, () => ({})],
  ["restore-mapping", restoreMapping, () => ({})],
];
const PAIRS = ROUTES.flatMap((one, place) => ROUTES.slice(place).map((other) => [one, other] as const));

test("two clients that ask whatever changes rows, while workers and the application do, are never answered 5xx", async () => {
  const failures: string[] = [];
  const answers = new Map<number, number>();
  let asked = 0;
  const ask = async ([route, handler, more]: Asked, round: number) => {
    const path = { workspace_id: world.workspaceId, mapping_id: contact.id };
    const { status, json } = await call(handler, route, { token, path, address: addressOf(asked++), ...more(round) });
    answers.set(status, (answers.get(status) ?? 0) + 1);
    if (status >= 500 || status === 429) failures.push(`round ${round}: ${route} ${status} ${JSON.stringify(json)}`);
  };
  const rounds = Math.max(ROUNDS, PAIRS.length);
  for (let round = 0; round < rounds; round++) {
    if (round > 0 && round % 500 === 0) console.log(JSON.stringify({ round, ...Object.fromEntries(answers) }));
    const [one, other] = PAIRS[round % PAIRS.length] ?? [];
    if (!one || !other) continue;
    const beside = [application, worker, cycle][round % 3] ?? application;
    await Promise.all([ask(one, round), ask(other, round), beside(round)]);
    // What was paused or ended continues, or the next pair would find nothing to change.
    for (const route of CHANGED.has(one[0]) || CHANGED.has(other[0]) ? BACK : []) await ask(route, round);
  }

  if (ROUNDS > 0) console.log(JSON.stringify({ rounds, ...Object.fromEntries(answers) }));
  expect(failures).toEqual([]);
  expect(answers.get(200)).toBeGreaterThan(rounds / 2);
});

const CHANGED: ReadonlySet<RouteName> = new Set(["deactivate-mapping", "delete-mapping"]);
const BACK = ROUTES.filter(([route]) => route === "restore-mapping" || route === "activate-mapping").reverse();

/** Another one for each hundred requests, or the limit of an address would answer most of them. */
const addressOf = (asked: number): string => `192.0.2.${Math.floor(asked / 100) % 250}`;

/** What a worker rejects comes again with its message. */
const again = () => undefined;

async function worker(): Promise<void> {
  await carryOut(cloud, world.services, 2).catch(again);
  for (const queue of ["cycles", "events", "fanOut"] as const) await cloud.take(queue);
}

async function cycle(): Promise<void> {
  const [mapping] = await world.mappings();
  if (mapping) await world.cycle(mapping).catch(again);
}

/** Rows of which one is refused and one has no record, as if it had been there before the mapping was. */
async function application(round: number): Promise<void> {
  await world.sql("INSERT INTO salesforce.contact (lastname, email) VALUES ($1, 'no address')", [`L${round}`]);
  await world.sql("UPDATE salesforce.contact SET lastname = lastname || '.' WHERE id % 7 = $1", [round % 7]);
  await world.sql("SET bridge.in_sync = 'contact'");
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ($1)", [`S${round}`]);
  await world.sql("RESET bridge.in_sync");
  await world.sql("DELETE FROM salesforce.contact WHERE id < $1", [2 * round - 100]);
}
