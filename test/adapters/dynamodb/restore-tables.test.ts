import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { PutCommand, ScanCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase } from "../../../lib/adapters/dynamodb/client/client.ts";
import { nameIn } from "../../../lib/infra/options/settings.ts";
import { TABLES, type TableName } from "../../../lib/model/resources.ts";
import { type BridgeCloud, startBridgeCloud, tableProperties } from "../../support/worlds/bridge-cloud.ts";

const NAMES = Object.keys(TABLES) as TableName[];

let cloud: BridgeCloud;
let [present, restored]: Database[] = [];
beforeAll(async () => {
  cloud = await startBridgeCloud();
  for (const suffix of ["", "-restored"])
    for (const name of NAMES)
      await cloud.dynamodb.ensureTable({ ...tableProperties(name), TableName: `${nameIn("prod", name)}${suffix}` });
  [present, restored] = ["", "-restored"].map((suffix) => openDatabase((name) => `${nameIn("prod", name)}${suffix}`));
});
afterAll(() => cloud.close());

const item = (name: TableName, id: string, value: string) => ({
  pk: id,
  ...(TABLES[name].sorted && { sk: "s" }),
  value,
});

async function put({ client, table }: Database, name: TableName, ids: readonly string[], value: string): Promise<void> {
  for (const id of ids) await client.send(new PutCommand({ TableName: table(name), Item: item(name, id, value) }));
}

async function held({ client, table }: Database, name: TableName) {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: table(name) }));
  return Items.map(({ pk, value }) => `${pk} ${value}`).toSorted();
}

const run = (args: readonly string[]) =>
  promisify(execFile)(process.execPath, ["bin/restore-tables.ts", ...args], {
    env: { ...process.env, ...cloud.environment },
  }).then(
    ({ stdout }) => stdout,
    ({ stderr }: { stderr: string }) => stderr,
  );

test("every table holds what its restored one holds: what was changed since is as it was, what came since is gone", async () => {
  if (!present || !restored) throw new Error("no tables");
  for (const name of NAMES) {
    await put(restored, name, ["kept", "changed", "deleted since"], "then");
    await put(present, name, ["kept", "changed", "new"], "now");
  }

  const said = await run(["--stage", "prod"]);

  for (const name of NAMES) {
    expect(await held(present, name), name).toEqual(["changed then", "deleted since then", "kept then"]);
    expect(await held(restored, name), name).toHaveLength(3);
    expect(said).toContain(`${nameIn("prod", name)}: 3 items`);
  }
  expect(await run(["--stage", "prod"])).toBe(said);

  // Nothing is written where a restored table is missing, or the stage is not named.
  await put(present, "mappings", ["new"], "now");
  expect(await run(["--stage", "prod", "--suffix=-of-monday"])).toMatch(/^Refused: .*not.*found/i);
  expect(await run([])).toBe("Refused: --stage says whose tables\n");
  expect(await held(present, "mappings")).toContain("new now");
});
