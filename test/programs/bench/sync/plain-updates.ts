import { setTimeout as pause } from "node:timers/promises";
import { type Ask, orgAsk } from "../../ask.ts";
import type { BenchOrg } from "./bench.ts";

interface Update {
  readonly id: string;
  readonly value: string;
}

const COLLECTION = 200;

/** Saves one field of records in collections of 200, one call after the other. */
export async function updateByCollections(
  { url, token }: BenchOrg,
  object: string,
  updates: readonly Update[],
  field = "Last__c",
): Promise<void> {
  const ask = orgAsk(url, token);
  for (let from = 0; from < updates.length; from += COLLECTION) {
    const records = updates
      .slice(from, from + COLLECTION)
      .map(({ id, value }) => ({ attributes: { type: object }, Id: id, [field]: value }));
    const results = await ask<{ success: boolean }[]>("PATCH", "/composite/sobjects", { allOrNone: false, records });
    if (results.some(({ success }) => !success))
      throw new Error(`an update was refused: ${JSON.stringify(results[0])}`);
  }
}

/** The same by one job of the Bulk API 2.0, its results fetched. */
export async function updateByBulk(
  { url, token }: BenchOrg,
  object: string,
  updates: readonly Update[],
): Promise<void> {
  const csv = `Id,Last__c\n${updates.map(({ id, value }) => `${id},${value}`).join("\n")}\n`;
  await runBulk(orgAsk(url, token), object, csv);
}

/** A job that updates the records of a CSV, which must all be accepted. */
export async function runBulk(ask: Ask, object: string, csv: string, lookMilliseconds = 20): Promise<void> {
  const { id } = await ask<{ id: string }>("POST", "/jobs/ingest", { object, operation: "update" });
  const path = `/jobs/ingest/${id}`;
  await ask("PUT", `${path}/batches`, csv);
  await ask("PATCH", path, { state: "UploadComplete" });
  while ((await ask<{ state: string }>("GET", path)).state !== "JobComplete") await pause(lookMilliseconds);
  const saved = await ask<string>("GET", `${path}/successfulResults`);
  if (saved.trim().split("\n").length !== csv.trim().split("\n").length)
    throw new Error("not every update was accepted");
}
