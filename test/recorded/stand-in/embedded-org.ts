import { type Client, type Json, openOrg } from "../../local/org/support/open-org.ts";

/** What the embedded org answers. */
export interface StandInAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Json;
}

/** An embedded org with some records, and the ids of two that tests need. */
export interface StandIn {
  readonly org: Client;
  readonly accountId: string;
  readonly deletedId: string;
}

const KEY = { name: "external_id__c", type: "text", length: 40, externalId: true, unique: true } as const;

/** Opens an org for one test; it ends with the test. */
export async function openStandIn(): Promise<StandIn> {
  const org = await openOrg({ definition: { objects: [{ name: "Opportunity", fields: [KEY] }] } });
  const accountId = await org.create("Account", { Name: "Edge Communications", Industry: "Apparel" });
  const deletedId = await org.create("Account", { Name: "Gone" });
  await org.call("DELETE", `sobjects/Account/${deletedId}`);
  return { org, accountId, deletedId };
}

/** A job of the Bulk API that upserts opportunities, one of them with a bad date: its answers from the first to the last. */
export async function runJob({ org }: StandIn) {
  const settings = {
    object: "Opportunity",
    operation: "upsert",
    externalIdFieldName: "external_id__c",
    lineEnding: "LF",
  };
  const made = await org.call("POST", "jobs/ingest", settings);
  const path = `jobs/ingest/${made.json["id"]}`;
  const csv =
    '"Name","StageName","external_id__c","CloseDate"\n"Good","Prospecting","k1","2026-01-01"\n"Bad","Prospecting","k2","2003-04-98765"\n';
  await org.call("PUT", `${path}/batches`, csv);
  const started = await org.call("PATCH", path, { state: "UploadComplete" });
  const complete = await ended(org, path);
  return {
    made,
    started,
    complete,
    failed: await org.get(`${path}/failedResults`),
    good: await org.get(`${path}/successfulResults`),
  };
}

/** The job once it has ended. */
async function ended(org: Client, path: string): Promise<StandInAnswer> {
  for (;;) {
    const answer = await org.get(path);
    if (/JobComplete|Failed|Aborted/.test(String(answer.json["state"]))) return answer;
  }
}
