import { createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { handler as listActivity } from "../../../../functions/api/list-activity.ts";
import { database, now } from "../../../../functions/services/composition.ts";
import { silentDatabases } from "../../../../lib/adapters/dynamodb/access/silent-databases.ts";
import { singleProbe } from "../../../../lib/adapters/postgres/session/single-probe.ts";
import type { Session } from "../../../../lib/adapters/postgres/session/sql.ts";
import { call } from "../../../support/clients/call.ts";
import { createTestWorkspace } from "../../../support/worlds/workspace.ts";
import { aCloud, cloud } from "../../cloud.ts";
import { listenForTest } from "../../listen.ts";

aCloud();
const session = { close: async () => undefined } as unknown as Session;

/** A process of its own, whose connection is let in when the test says so, and whose timeout likewise. */
function aProcess(url: string) {
  const opening = Promise.withResolvers<Session>();
  const timeout = Promise.withResolvers<string>();
  const probe = singleProbe(silentDatabases(database()), now, () => timeout.promise);
  const opened = probe(url, () => opening.promise);
  opened.catch(() => undefined);
  return { opened, letIn: () => opening.resolve(session), timeOut: () => timeout.resolve("late") };
}

const REFUSED = {
  name: "DatabaseUnavailable",
  stage: "connect",
  isBusy: true,
  message: expect.stringMatching("silent|does not answer"),
};

test("of 25 processes that wait for a silent database one stays, and those that come later do not wait", async () => {
  const url = "postgres://u:p@db.example/silent";
  const waiting = Array.from({ length: 25 }, () => aProcess(url));
  for (const one of waiting) one.timeOut();
  const first24 = new Set<unknown>();
  await new Promise<void>((resolve) => {
    for (const { opened } of waiting) opened.catch((error) => first24.add(error).size === 24 && resolve());
  });
  for (const error of first24) expect(error).toMatchObject(REFUSED);
  await expect(aProcess(url).opened).rejects.toMatchObject(REFUSED);
  const ofAnother = aProcess("postgres://other:p@db.example/silent");
  ofAnother.letIn();
  expect(await ofAnother.opened).toBe(session);

  for (const one of waiting) one.letIn();
  expect(
    (await Promise.allSettled(waiting.map(({ opened }) => opened))).filter(({ status }) => status === "fulfilled"),
  ).toHaveLength(1);
  const waitsAgain = async () => {
    const later = aProcess(url);
    later.timeOut();
    later.letIn();
    expect(await later.opened).toBe(session);
  };
  await waitsAgain(); // it has answered

  const two = [aProcess(url), aProcess(url)];
  for (const one of two) one.timeOut();
  await Promise.any(two.map(({ opened }) => opened.catch(() => "refused")));
  await cloud.clock.advance({ seconds: 16 });
  await waitsAgain(); // it stayed silent for a while
  for (const one of two) one.letIn();
});

test("readers of a silent database get a 503, but for one", { timeout: 120_000 }, async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket));
  const url = `postgres://u:p@127.0.0.1:${await listenForTest(server)}/d?sslmode=disable`;
  const workspace = await createTestWorkspace({ postgres: { url, schema: "salesforce" } });
  const path = { workspace_id: workspace.id };
  const ask = () => call(listActivity, "list-activity", { token: workspace.token, path });

  const asked = Array.from({ length: 25 }, ask);
  const refused: { status: number }[] = [];
  await new Promise<void>((resolve) => {
    for (const one of asked) void one.then((answer) => refused.push(answer) === 24 && resolve());
  });
  const opened = sockets.length;
  const later = await ask();

  expect(refused.slice(0, 24).map(({ status }) => status)).toEqual(Array.from({ length: 24 }, () => 503));
  expect(later).toMatchObject({ status: 503, json: { error: { code: "UNAVAILABLE" } } });
  expect(later.json?.error?.message).toContain("it does not answer");
  expect(later.headers["Retry-After"]).toBe("1");
  expect(sockets.length).toBeLessThanOrEqual(opened + 1);
  for (const socket of sockets) socket.destroy();
  server.close();
  expect((await Promise.all(asked)).filter(({ status }) => status === 500)).toHaveLength(1);
});
