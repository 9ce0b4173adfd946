import { expect, test } from "vitest";
import type { Definition } from "../../../lib/local/org/metadata/definition.ts";
import { type Client, openOrg } from "./support/open-org.ts";

const DEFINITION: Definition = {
  objects: [
    {
      name: "Stay__c",
      fields: [
        { name: "From_Day__c", type: "date" },
        { name: "At__c", type: "datetime" },
      ],
    },
  ],
};

type Save = (org: Client, field: string, value: string) => Promise<string>;

/** The refusal of a new record by each way to save, its code first; empty if it was saved. */
const WAYS: Readonly<Record<string, Save>> = {
  REST: async (org, field, value) => {
    const { status, json } = await org.call("POST", "sobjects/Stay__c", { [field]: value });
    return status === 201 ? "" : `${json[0]?.["errorCode"]}:${json[0]?.["message"]}:${json[0]?.["fields"]}`;
  },
  SOAP: async (org, field, value) => {
    const { text } = await org.soap(
      `<create><sObjects><type>Stay__c</type><${field}>${value}</${field}></sObjects></create>`,
    );
    const read = (name: string) => new RegExp(`<${name}>(.*?)</${name}>`).exec(text)?.[1];
    return read("success") === "true" ? "" : [read("statusCode"), read("message"), read("fields")].join(":");
  },
  Bulk: async (org, field, value) => {
    const job = await org.call("POST", "jobs/ingest", { object: "Stay__c", operation: "insert" });
    const path = `jobs/ingest/${job.json["id"]}`;
    await org.call("PUT", `${path}/batches`, `${field}\n${value}\n`);
    await org.call("PATCH", path, { state: "UploadComplete" });
    while (String((await org.get(path)).json["state"]) !== "JobComplete");
    const [, line = ""] = (await org.get(`${path}/failedResults`)).text.split("\n");
    return /^"","(.*) --"/.exec(line)?.[1] ?? "";
  },
};

test("no way saves a moment that Salesforce does not keep", async () => {
  const org = await openOrg({ definition: DEFINITION });

  for (const [field, value, text] of [
    ["From_Day__c", "1699-12-31", "From Day: invalid date: Thu Dec 31 00:00:00 GMT 1699"],
    ["From_Day__c", "1700-01-01", null],
    ["From_Day__c", "4000-12-31", null],
    ["From_Day__c", "4001-01-01", "From Day: invalid date: Mon Jan 01 00:00:00 GMT 4001"],
    ["At__c", "1700-01-01T00:30:00+01:00", "At: invalid date: Thu Dec 31 23:30:00 GMT 1699"],
    ["At__c", "1699-12-31T23:30:00-01:00", null],
    ["At__c", "4000-12-31T00:00:00Z", null],
    ["At__c", "4000-12-31T00:00:01Z", "At: invalid date: Sun Dec 31 00:00:01 GMT 4000"],
  ] as const)
    for (const [way, save] of Object.entries(WAYS)) {
      const refusal = text === null ? "" : `FIELD_INTEGRITY_EXCEPTION:${text}:${field}`;
      expect(await save(org, field, value), `${way}: ${value}`).toBe(refusal);
    }
  expect(await org.records("SELECT Id FROM Stay__c")).toHaveLength(4 * 3);
});
