import type { Operation, OutgoingParent, OutgoingRecord } from "../record/record.ts";

/** Records that one call of Salesforce's SOAP API takes. */
export const BATCH_SIZE = 200;

/** Records of one job of the Bulk API: as many as Salesforce works off as one batch of its own. */
export const JOB_RECORDS = 10_000;

/** What one record or field of an upload may hold, and all of it together (Bulk API 2.0 limits; 150 MB in base 64). */
const FIELD_CHARACTERS = 131_072;
const RECORD_CHARACTERS = 400_000;
const UPLOAD_BYTES = 100_000_000;

/** In CSV this clears a field, so a text that says so cannot travel there. */
export const CLEARS = "#N/A";

/** Create, upload, start, up to two files of results; and the polls in between, as in a job of 15 seconds. */
const CALLS_AROUND_LOOKS = 5;
const LOOKS = 6;

/** Calls that saving so many records of one kind costs by SOAP. */
export const soapCalls = (records: number): number => Math.ceil(records / BATCH_SIZE);

/** Calls that saving them costs by a job of the Bulk API 2.0. */
export const bulkCalls = (records: number): number => Math.ceil(records / JOB_RECORDS) * (CALLS_AROUND_LOOKS + LOOKS);

/** What decides how one record travels. */
interface Travelling {
  readonly record: OutgoingRecord;
  readonly attempts: number;
}

/** Writes of one operation, by the way they take; each list of `bulk` is one job, its records all of the same fields. */
export interface Ways<Write> {
  readonly bulk: readonly (readonly Write[])[];
  readonly soap: readonly Write[];
}

/**
 * Sends by the Bulk API what costs fewer calls so, and whose results can be matched: by Id or by upsert value, never by
 * order. A file has one header, so only records of the same fields share a job; groups that are too small go by SOAP, and
 * so does what was refused before, so that a job that fails as a whole is never repeated.
 */
export function waysOf<Write extends Travelling>(
  operation: Operation,
  writes: readonly Write[],
  isWorthAJob = isCheaper,
): Ways<Write> {
  if (!MATCHED.has(operation) || !isWorthAJob(writes.length)) return { bulk: [], soap: writes };
  const fit = writes.filter(({ record, attempts }) => attempts === 0 && fitsUpload(record));
  const groups = [...Map.groupBy(fit, ({ record }) => headerOf(record).join()).values()];
  const bulk = groups.flatMap((group) => [...jobsOf(group)]).filter((job) => isWorthAJob(job.length));
  const travel = bulk.reduce((sum, job) => sum + job.length, 0);
  if (travel === writes.length) return { bulk, soap: [] };
  const inJobs = new Set(bulk.flat());
  return { bulk, soap: writes.filter((write) => !inJobs.has(write)) };
}

/** Whether so many records cost fewer calls as one job; where it is even, SOAP answers sooner. */
const isCheaper = (records: number): boolean => bulkCalls(records) < soapCalls(records);

/** A plain insert comes back under an id that we do not know yet; the Bulk API does not undelete. */
const MATCHED: ReadonlySet<Operation> = new Set(["update", "upsert", "delete"]);

/** The columns of a record in an upload: its fields, then its parents' keys, `Account.External_Id__c`. */
export function headerOf({ id, values, parents = [] }: OutgoingRecord): string[] {
  const keys = parents.map(({ relationship, field }) => `${relationship}.${field}`);
  return [...(id === null ? [] : ["Id"]), ...Object.keys(values).sort(), ...keys.sort()];
}

function fitsUpload({ values, parents = [] }: OutgoingRecord): boolean {
  let characters = 0;
  for (const text of textsOf(values, parents)) {
    if (text === null) continue;
    // A blank cell leaves the field as it is.
    if (text.length > FIELD_CHARACTERS || text === CLEARS || text.trim() === "") return false;
    characters += text.length;
  }
  return characters <= RECORD_CHARACTERS;
}

function textsOf(values: OutgoingRecord["values"], parents: readonly OutgoingParent[]): readonly (string | null)[] {
  const texts = Object.values(values);
  for (const { value } of parents) texts.push(value);
  return texts;
}

function* jobsOf<Write extends Travelling>(group: readonly Write[]): Generator<Write[]> {
  let job: Write[] = [];
  let bytes = 0;
  for (const write of group) {
    const more = bytesAtMost(write.record);
    if (job.length === JOB_RECORDS || bytes + more > UPLOAD_BYTES) {
      yield job;
      job = [];
      bytes = 0;
    }
    job.push(write);
    bytes += more;
  }
  if (job.length > 0) yield job;
}

/** No character is longer than three bytes of UTF-8 for each of its two; each value has two quotes and a comma. */
function bytesAtMost({ id, values, parents = [] }: OutgoingRecord): number {
  const ofId = 3 * (id ?? CLEARS).length + 3;
  return textsOf(values, parents).reduce((sum, text) => sum + 3 * (text ?? CLEARS).length + 3, ofId);
}
