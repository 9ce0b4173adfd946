import { setTimeout as pause } from "node:timers/promises";
import { type Ask, orgAsk, request } from "../../ask.ts";

/** An org and a session of it. */
interface Session {
  readonly url: string;
  readonly token: string;
}

interface Update {
  readonly id: string;
  readonly value: string;
}

const COLLECTION = 200;

/** Saves one field of records in collections of 200, one call after the other. */
export async function updateByCollections(org: Session, object: string, updates: readonly Update[], field = "Last__c") {
  const records = updates.map(({ id, value }) => ({ Id: id, [field]: value }));
  await saveByCollections(orgAsk(org.url, org.token), object, records);
}

/** Saves records, which must all be accepted, in collections of 200, one call after the other. */
export async function saveByCollections(ask: Ask, object: string, all: readonly object[]): Promise<void> {
  for (let from = 0; from < all.length; from += COLLECTION) {
    const records = all.slice(from, from + COLLECTION).map((record) => ({ attributes: { type: object }, ...record }));
    const results = await ask<{ success: boolean }[]>("PATCH", "/composite/sobjects", { allOrNone: false, records });
    if (results.some(({ success }) => !success)) throw new Error(`a save was refused: ${JSON.stringify(results[0])}`);
  }
}

/** The same as `updateByCollections` by one job of the Bulk API 2.0, its results fetched. */
export async function updateByBulk(org: Session, object: string, updates: readonly Update[]): Promise<void> {
  const csv = `Id,Last__c\n${updates.map(({ id, value }) => `${id},${value}`).join("\n")}\n`;
  await runBulk(orgAsk(org.url, org.token), object, csv);
}

/** A job that updates the records of a CSV, which must all be accepted. */
export async function runBulk(ask: Ask, object: string, csv: string, lookMilliseconds = 20): Promise<void> {
  const path = await ingest(ask, { object, operation: "update" }, csv, lookMilliseconds);
  const saved = await ask<string>("GET", `${path}/successfulResults`);
  if (saved.trim().split("\n").length !== csv.trim().split("\n").length)
    throw new Error("not every update was accepted");
}

/** Runs a job with a CSV to its end; gives its path. */
async function ingest(ask: Ask, job: object, csv: string, lookMilliseconds: number): Promise<string> {
  const { id } = await ask<{ id: string }>("POST", "/jobs/ingest", job);
  const path = `/jobs/ingest/${id}`;
  await ask("PUT", `${path}/batches`, csv);
  await ask("PATCH", path, { state: "UploadComplete" });
  await complete(ask, path, lookMilliseconds);
  return path;
}

async function complete(ask: Ask, path: string, lookMilliseconds: number): Promise<void> {
  for (;;) {
    const job = await ask<{ state: string }>("GET", path);
    if (job.state === "JobComplete") return;
    if (job.state !== "UploadComplete" && job.state !== "InProgress") throw new Error(JSON.stringify(job));
    await pause(lookMilliseconds);
  }
}

/** Asks by a job of the Bulk API 2.0. When it is complete, gives what downloads its results, one call a part. */
export async function queryByBulk({ url, token }: Session, query: string): Promise<() => AsyncIterable<Response>> {
  const ask = orgAsk(url, token);
  const path = `/jobs/query/${(await ask<{ id: string }>("POST", "/jobs/query", { operation: "query", query })).id}`;
  await complete(ask, path, 20);
  return async function* () {
    for (let locator = ""; locator !== "null"; ) {
      const asked = `${path}/results?maxRecords=50000${locator && `&locator=${locator}`}`;
      const part = await request(`${url}/services/data/v66.0${asked}`, token, "GET");
      yield part;
      locator = part.headers.get("sforce-locator") ?? "null";
    }
  };
}
