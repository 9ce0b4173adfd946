import { type CsvLine, valuesIn } from "../../../lib/model/record/csv-line.ts";
import type { Operation, OutgoingRecord } from "../../../lib/model/record/record.ts";
import type { SavedKind } from "../../../lib/sync/ports/push-ports.ts";
import type { Interview, Made } from "./engine-saves.ts";

/** A job that is not done after this many polls is reported as it is. */
const LOOKS = 600;
const LOOK_AGAIN_MILLISECONDS = 500;

/** A job of the Bulk API that reads, its results in parts of two records, and what is no job. */
export async function queryByBulk({ tell, salesforce, mark, door }: Interview): Promise<void> {
  const soql = `SELECT Id, Name, AnnualRevenue, Description, Website, IsDeleted, SystemModstamp FROM Account WHERE Name LIKE '${mark}%'`;
  const job = await tell("Bulk query", () => salesforce.startBulkQuery(soql));
  await tell("Bulk query of no field", () => salesforce.startBulkQuery("SELECT Bogus__c FROM Account"));
  await tell("Bulk query that is not there", () => salesforce.bulkQueryRecords("750000000000000AAA"));
  if (job === null) return;
  await tell("Bulk query, done", async () => {
    for (let looks = 0; looks < LOOKS; looks++) {
      const records = await salesforce.bulkQueryRecords(job.jobId);
      if (records !== null) return records;
      await pause(door);
    }
    return "never done";
  });
  await tell("results of a Bulk query", async () => {
    const lines: CsvLine[] = [];
    let locator: string | null = null;
    let parts = 0;
    do {
      const part: Awaited<ReturnType<typeof salesforce.bulkResults>> = await salesforce.bulkResults(
        job.jobId,
        locator,
        2,
      );
      for await (const piece of part.pieces) lines.push(...piece.lines);
      locator = part.next;
      parts += 1;
    } while (locator !== null);
    return { parts: String(parts), records: sorted(lines) };
  });
}

/** Jobs of the Bulk API that save: each operation, a record that is refused, a parent by external id, one that is ended early. */
export async function saveByBulk(interview: Interview, { accounts }: Made): Promise<void> {
  const { tell, salesforce, mark, key } = interview;
  const contact = (name: string | null, Title: string | null): OutgoingRecord => ({
    id: null,
    values: { LastName: name === null ? null : `${mark} ${name}`, Title },
  });
  const records = [contact("P", 'a "title", of two'), contact("Q", null), contact(null, "nameless")];
  const ids = await job(interview, { operation: "create", object: "Contact", records });
  const update = ids.map((id) => ({ id, values: { Title: null, Email: "p@example.com" } }));
  await job(interview, { operation: "update", object: "Contact", records: update });
  if (key !== null) {
    const account = (name: string) => ({ id: null, values: { [key]: `${mark} ${name}`, Name: `${mark} ${name}` } });
    await job(interview, { operation: "upsert", object: "Account", records: [account("K"), account("L")], key });
    const parent = { reference: "AccountId", relationship: "Account", object: "Account", field: key };
    const below = (value: string) => ({
      id: null,
      values: { LastName: value },
      parents: [{ ...parent, value }],
    });
    const children = [below(`${mark} K`), below(`${mark} stranger`)];
    await job(interview, { operation: "create", object: "Contact", records: children, name: "create below parents" });
  }
  await job(interview, { operation: "delete", object: "Contact", records: ids.map((id) => ({ id, values: {} })) });
  await tell("Bulk undelete", () => salesforce.openBulkSave("undelete", "Contact", null));
  await tell("Bulk save of no object", () => salesforce.openBulkSave("create", "Bogus__c", null));
  const aborted = await tell("Bulk save, opened", () => salesforce.openBulkSave("update", "Account", null));
  if (aborted !== null) {
    const [id = ""] = accounts;
    await tell("Bulk save, uploaded", () =>
      salesforce.uploadBulkSave(aborted, [{ id, values: { Name: `${mark} X` } }]),
    );
    await tell("Bulk save, not started", () => salesforce.pollBulkSave(aborted));
    await tell("Bulk save, abort", () => salesforce.abortBulkSave(aborted));
    await tell("Bulk save, aborted", () => salesforce.pollBulkSave(aborted));
  }
  await tell("Bulk save that is not there", () => salesforce.pollBulkSave("750000000000000AAA"));
}

interface Job {
  readonly operation: Operation;
  readonly object: string;
  readonly records: readonly OutgoingRecord[];
  readonly key?: string;
  readonly name?: string;
}

const FILES: readonly SavedKind[] = ["successful", "failed", "unprocessed"];

/** Runs one job to its end and reads its files; gives the ids of what it saved. */
async function job({ tell, salesforce, door }: Interview, { operation, object, records, key, name }: Job) {
  const called = `Bulk ${name ?? operation}`;
  const jobId = await tell(called, () => salesforce.openBulkSave(operation, object, key ?? null));
  if (jobId === null) return [];
  await tell(`${called}, upload`, () => salesforce.uploadBulkSave(jobId, records));
  await tell(`${called}, start`, () => salesforce.startBulkSave(jobId));
  await tell(`${called}, done`, async () => {
    for (let looks = 0; looks < LOOKS; looks++) {
      const look = await salesforce.pollBulkSave(jobId);
      if (look.state !== "open" && look.state !== "working") return look;
      await pause(door);
    }
    return "never done";
  });
  let saved: readonly Record<string, string>[] = [];
  for (const kind of FILES)
    await tell(`${called}, ${kind}`, async () => {
      const lines: CsvLine[] = [];
      for await (const batch of await salesforce.bulkSaved(jobId, kind)) lines.push(...batch);
      const rows = sorted(lines);
      if (kind === "successful") saved = rows;
      return rows;
    });
  return saved.map((line) => line["sf__Id"] ?? "");
}

const pause = (door: Interview["door"]) => door.pass(LOOK_AGAIN_MILLISECONDS);

/** Lines of CSV as records, by what both orgs have in common: a file is in no order. */
function sorted(lines: readonly CsvLine[]): readonly Record<string, string>[] {
  const records = lines.map((line) => {
    const values = valuesIn(line);
    return Object.fromEntries(line.names.map((name, at) => [name, values[at] ?? ""]));
  });
  const order = (record: Record<string, string>) => record["LastName"] ?? record["Name"] ?? record["Id"] ?? "";
  return records.toSorted((one, other) => order(one).localeCompare(order(other)));
}
