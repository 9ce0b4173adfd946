import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { ended, occupied, portOf, readyThenStopped, StoppedInstance } from "../support/processes/stopped-instance.ts";
import { createTestDatabase } from "../support/worlds/postgres.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const instance = new StoppedInstance();
beforeAll(() => instance.make());
afterAll(() => instance.destroy());

test("a start without a demo keeps the one that is there, for the next one to continue with", async () => {
  const without = await ended(instance.serve("--no-demo"), readyThenStopped);
  const after = await ended(instance.serve(), readyThenStopped);

  const demo = { workspace_id: instance.made.workspace_id, api_token: instance.made.api_token };
  expect(instance.made.api_token).toMatch(/^brg_/);
  expect([without, after]).toMatchObject([demo, demo]);
});

test("a port that the workspace's connections name is neither waited for nor replaced", async () => {
  const [database, org] = [portOf(instance.made.database_url), portOf(instance.made.salesforce.url)];
  await occupied(database);
  const withoutDatabase = await instance.refused();
  await occupied(org);
  const withoutOrg = await instance.refused();

  expect(withoutDatabase.said).toContain(`the embedded PostgreSQL cannot listen on 127.0.0.1:${database}`);
  expect(withoutOrg.said).toMatch(/cannot listen on 127\.0\.0\.1:\d+: another program has it/);
});

test("another database than that in which the demo's tables lie is refused", async () => {
  const database = await createTestDatabase();
  onTestFinished(database.close);

  const { said } = await instance.refused("--database-url", database.url);

  expect(said).toContain(
    `the demo of this data folder has its tables in 127.0.0.1:${portOf(instance.made.database_url)}/bridge`,
  );
});

test("an instance.json that a user has changed is named, with what is wrong in it", async () => {
  const path = join(instance.dataDir, "instance.json");
  const whole = readFileSync(path);
  onTestFinished(() => writeFileSync(path, whole));
  writeFileSync(path, JSON.stringify({ ...instance.made, database_url: 5 }));

  const { said } = await instance.refused();

  expect(said).toContain(`${path} is not as a start writes it: correct it, or choose another data folder`);
  expect(said).toContain("at database_url");
});

test("a data folder whose instance.json was lost gets no second demo beside the first", async () => {
  const path = join(instance.dataDir, "instance.json");
  const whole = readFileSync(path);
  onTestFinished(() => writeFileSync(path, whole));
  rmSync(path);

  const { said } = await instance.refused();

  expect(said).toContain(
    `holds the workspace ${instance.made.workspace_id}, but no instance.json, which had its token`,
  );
});
