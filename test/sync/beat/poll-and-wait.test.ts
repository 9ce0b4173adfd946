import type { SQSEvent } from "aws-lambda";
import { expect, test } from "vitest";
import { handler as nudge } from "../../../functions/api/nudge.ts";
import { handler as pollNow } from "../../../functions/api/poll-now.ts";
import { handler as readCycle } from "../../../functions/api/read-cycle.ts";
import { mappings } from "../../../functions/services/composition.ts";
import { handler as sweepMinute } from "../../../functions/workers/sweep-minute.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { CyclesMessage } from "../../../lib/model/messages.ts";
import { call } from "../../support/clients/call.ts";
import { type Asking, anIdleContactForEachTest, mapped } from "../../support/worlds/worlds.ts";

let world: Asking["world"];
let token: string;
let contact: Mapping;
let cloud: Asking["cloud"];
let runWhatWasAskedFor: Asking["runWhatWasAskedFor"];
anIdleContactForEachTest((made) => {
  ({ world, cloud, token, contact, runWhatWasAskedFor } = made);
});

const poll = (headers: Readonly<Record<string, string>> = {}) =>
  call(pollNow, "poll-now", { token, headers, path: { workspace_id: world.workspaceId, mapping_id: contact.id } });
const read = (mark = "", query: Readonly<Record<string, string>> = {}, mappingId = contact.id) =>
  call(readCycle, "read-cycle", {
    token,
    query,
    path: { workspace_id: world.workspaceId, mapping_id: mappingId, mark },
  });

test("a poll names its cycle, and who waits for that is answered when it has ended, with what it moved", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Ada'), (NULL)");
  const asked = await poll({ "idempotency-key": "k" });
  const mark = asked.headers["Bridge-Cycle"];
  const before = await read(mark);
  const again = await poll({ "idempotency-key": "k" });
  expect(again.headers["Bridge-Cycle"], "repeated by its key").toBe(mark);

  const waiting = read(mark, { wait: "20" });
  await runWhatWasAskedFor();

  expect(asked.json?.data).toEqual({
    triggered: true,
    mapping_id: contact.id,
    message: "Poll cycle started. Results appear in monitoring within seconds.",
  });
  expect(mark).toMatch(/^cyc_\w{22}$/);
  expect(before.json?.data).toMatchObject({ state: "waiting", ended_at: null, accepted: null });
  expect((await waiting).json?.data).toEqual({
    state: "ended",
    asked_at: expect.any(String),
    ended_at: expect.any(String),
    pulled: 0,
    accepted: 1,
    refused: 1,
    error: null,
  });

  const other = await mapped(world, { object: "Account", fields: ["Name"] });
  for (const answer of [await read("cyc_1"), await read("lease_99999"), await read(mark, {}, other.id)])
    expect(answer.json?.error?.code, "a mark that no cycle of the mapping has").toBe("NOT_FOUND");
});

const sweep = () => sweepMinute({ Records: [{ messageId: "tick", body: "{}" }] } as SQSEvent);
const askedAgain = async () =>
  ((await cloud.take("cycles")) as CyclesMessage[]).flatMap(({ kind, mapping_id, mark }) =>
    kind === "poll" && mapping_id === contact.id ? [mark] : [],
  );

test("a poll whose process died is sent again within two minutes, as often as it dies, and never once it is answered", async () => {
  const mark = (await poll()).headers["Bridge-Cycle"];
  await cloud.take("cycles"); // the process that took the message died
  await sweep();
  expect(await askedAgain()).toEqual([]);

  await world.pass(61);
  await sweep();
  expect(await askedAgain()).toEqual([mark]);

  await world.pass(60);
  await world.sql("UPDATE salesforce._bridge_state SET lease_until = clock_timestamp() + interval '1 hour'");
  await sweep();
  expect(await askedAgain(), "a cycle holds the lease, and its answer may come").toEqual([]);
  await world.pass(120);
  await sweep();
  expect(await askedAgain(), "no cycle is longer").toEqual([mark]);

  await world.sql("UPDATE salesforce._bridge_state SET lease_until = NULL");
  await world.pass(60);
  await sweep();
  expect(await runWhatWasAskedFor()).toBe(1);
  expect((await read(mark)).json?.data).toMatchObject({ state: "ended", error: null });

  await world.pass(60);
  await sweep();
  expect(await askedAgain()).toEqual([]);
  await poll();
  await cloud.take("cycles");
  await world.pass(901);
  await sweep();
  expect(await askedAgain(), "no caller waits for a quarter of an hour").toEqual([]);
});

test("a nudge whose process died is repaired by the next beat, and a change of configuration by the sweep", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Ada')");
  await call(nudge, "nudge", { token, path: { workspace_id: world.workspaceId }, body: {} });
  expect((await cloud.take("cycles")) as CyclesMessage[]).toMatchObject([{ kind: "pull", wakes: "push" }]);
  await world.pass(10);
  await world.cycle(contact);
  expect(await world.sql("SELECT state FROM salesforce._trigger_log")).toEqual([{ state: "SUCCESS" }]);

  await mappings().setProvisioning(world.workspaceId, contact.id, contact.configVersion, { state: "pending" });
  await cloud.take("provisioning");
  await world.pass(61);
  await sweep();
  expect(await cloud.take("provisioning")).toContainEqual({
    workspace_id: world.workspaceId,
    mapping_id: contact.id,
    import_id: null,
  });
});

test("while a cycle runs a poll names that one, which can be waited for as well", async () => {
  await world.sql("UPDATE salesforce._bridge_state SET lease_until = clock_timestamp() + interval '1 hour'");
  const asked = await poll();
  const mark = asked.headers["Bridge-Cycle"];
  const before = await read(mark);
  const waiting = read(mark, { wait: "20" });
  await world.sql("UPDATE salesforce._bridge_state SET lease_until = NULL");

  expect(asked.json?.data).toMatchObject({ triggered: false, message: expect.stringMatching(/running already/) });
  expect(before.json?.data).toMatchObject({ state: "waiting", asked_at: null });
  expect((await waiting).json?.data).toMatchObject({ state: "ended", accepted: null, error: null });
  await world.cycle(contact);
  expect((await read(mark)).json?.data).toMatchObject({ state: "ended" });
});

test("a poll that meets an error ends all the same and says why", async () => {
  const failed = (await poll()).headers["Bridge-Cycle"];
  await world.databaseGoesAway();
  await runWhatWasAskedFor();
  await world.databaseComesBack();

  expect((await read(failed)).json?.data).toMatchObject({
    state: "ended",
    accepted: null,
    error: expect.stringMatching(/PostgreSQL/),
  });
});
