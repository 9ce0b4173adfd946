import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SQSEvent } from "aws-lambda";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { atWork } from "../../../functions/invocation/cycle-journal.ts";
import { engineReports } from "../../../functions/services/composition.ts";
import { handler as runCycle } from "../../../functions/workers/run-cycle.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { temporaryFolder } from "../../support/run/temporary-folder.ts";
import { mapped } from "../../support/worlds/worlds.ts";
import { eachInAWorld, world } from "../world.ts";

let account: Mapping;
let folder: string;
eachInAWorld(async () => {
  await world.mapContact(["LastName"]);
  account = await mapped(world, { object: "Account", fields: ["Name"] });
});

// As on Lambda, where a process has one invocation at a time, and its successor the same /tmp.
beforeEach(() => {
  folder = temporaryFolder();
  vi.stubEnv("METRICS_NAMESPACE", "Bridge");
  vi.stubEnv("TMPDIR", folder);
});
afterEach(() => void vi.unstubAllEnvs());

const keyOf = ({ workspaceId, id }: Mapping) => ({ workspace_id: workspaceId, mapping_id: id });

/** One invocation that polls both mappings. */
const invoke = () => {
  const body = JSON.stringify({ ...keyOf(world.contact), also: [account.id], kind: "poll", slot: null });
  return runCycle({ Records: [{ messageId: "1", body }] } as SQSEvent);
};

/** The function dies while cycles of these are at work. */
const die = (...mappings: readonly Mapping[]) => {
  for (const mapping of mappings) void atWork(keyOf(mapping), () => new Promise(() => {}));
};

/** The beginnings and ends of cycles in the last invocation, in order. */
const journal = () =>
  readFileSync(join(folder, "cycles-at-work"), "utf8")
    .trim()
    .split("\n")
    .map((line) => `${line[0]}${line.endsWith(world.contact.id) ? "Contact" : "Account"}`);

const reportOf = async ({ id }: Mapping) =>
  (await engineReports().read(world.workspaceId)).mappings.find(({ mappingId }) => mappingId === id);

test("a mapping whose function died twice runs alone from then on, and each death is reported as a failed cycle", async () => {
  die(world.contact, account);
  await invoke();
  expect(journal().slice(-2), "once may happen to any").not.toEqual(["+Contact", "-Contact"]);
  die(world.contact);
  await invoke();
  expect(journal()).toEqual(["+Account", "-Account", "+Contact", "-Contact"]);

  die(world.contact);
  const log = vi.spyOn(console, "error").mockReturnValue();
  await invoke();
  const line = { event: "cycle", level: "error", mapping_id: world.contact.id, reason: "function_died" };
  expect(log.mock.calls.map(([said]) => JSON.parse(String(said)))).toContainEqual(
    expect.objectContaining({
      ...line,
      message: "run-cycle died while a cycle of Contact was at work; deaths within a day: 3",
    }),
  );
  log.mockRestore();

  await invoke();
  expect(journal().slice(-2), "ending well does not bring it back among the others").toEqual(["+Contact", "-Contact"]);
  await world.pass(86_401);
  await invoke();
  expect(journal()).toHaveLength(4);
});

test("three deaths in a row break the mapping, and a cycle that ends well repairs it", async () => {
  await world.fault({ kind: "serverError", path: "services", times: 0 });
  for (let time = 1; time <= 3; time += 1) {
    die(world.contact);
    await runCycle({
      Records: [{ messageId: "1", body: JSON.stringify({ ...keyOf(account), kind: "poll", slot: null }) }],
    } as SQSEvent);
  }
  expect(await reportOf(world.contact)).toMatchObject({ broken: true, failure: "function_died" });

  await world.control("DELETE", "/faults");
  await invoke();
  expect(await reportOf(world.contact)).toMatchObject({ broken: false, failure: null });
});
