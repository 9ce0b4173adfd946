import { setTimeout as pause } from "node:timers/promises";
import type { RunningInstance } from "../../support/processes/instance.ts";
import { orgAsk, queryAll } from "../ask.ts";

const SIDES = [
  { table: "salesforce.account", object: "Account", fields: ["Name", "Phone", "Website"] },
  { table: "salesforce.contact", object: "Contact", fields: ["Email", "LastName", "Phone", "Title"] },
];

const PATIENCE_MILLISECONDS = 5 * 60_000;
const LOOK_MILLISECONDS = 10_000;

/** Rows that differ from their records or have none, and records without a row; waits until there are none, but not for ever. */
export async function differencesWhenSettled(instance: RunningInstance): Promise<number> {
  const began = performance.now();
  for (;;) {
    const differences = await countDifferences(instance);
    if (differences === 0 || performance.now() - began > PATIENCE_MILLISECONDS) return differences;
    await pause(LOOK_MILLISECONDS);
  }
}

async function countDifferences(instance: RunningInstance): Promise<number> {
  let differences = 0;
  for (const { table, object, fields } of SIDES) {
    const all = ["External_Id__c", ...fields];
    const rows = await instance.sql(`SELECT sfid AS id, ${all.join(", ")} FROM ${table}`);
    const { url, access_token } = instance.file.salesforce;
    const found = await queryAll<Values>(orgAsk(url, access_token), `SELECT Id, ${all.join(", ")} FROM ${object}`);
    const records = new Map(found.map((record) => [String(record["Id"]), valuesOf(record, all)]));
    const lowerCase = all.map((field) => field.toLowerCase());
    const equal = rows.filter((row) => records.get(String(row["id"])) === valuesOf(row, lowerCase)).length;
    differences += rows.length - equal + (records.size - equal);
  }
  return differences;
}

type Values = Readonly<Record<string, unknown>>;

function valuesOf(values: Values, names: readonly string[]): string {
  return JSON.stringify(names.map((name) => values[name] ?? null));
}
