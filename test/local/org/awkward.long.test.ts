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
        {
          name: "Wishes__c",
          type: "multipicklist",
          values: ["Quiet", { value: "Sea", active: false }, "Lift", "Bath"],
        },
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

test.each([
  ["From_Day__c", "1699-12-31", "From Day: invalid date: Thu Dec 31 00:00:00 GMT 1699"],
  ["From_Day__c", "1700-01-01", null],
  ["From_Day__c", "4000-12-31", null],
  ["From_Day__c", "4001-01-01", "From Day: invalid date: Mon Jan 01 00:00:00 GMT 4001"],
  ["From_Day__c", "0016-04-01", "From Day: invalid date: Fri Apr 01 00:00:00 GMT 16"],
  ["At__c", "1699-12-31T23:59:59.999Z", "At: invalid date: Thu Dec 31 23:59:59 GMT 1699"],
  ["At__c", "1700-01-01T00:30:00+01:00", "At: invalid date: Thu Dec 31 23:30:00 GMT 1699"],
  ["At__c", "1699-12-31T23:30:00-01:00", null],
  ["At__c", "4000-12-31T00:00:00Z", null],
  ["At__c", "4000-12-31T00:00:01Z", "At: invalid date: Sun Dec 31 00:00:01 GMT 4000"],
  ["At__c", "9999-12-31T23:30:00-01:00", "At: invalid date: Sat Jan 01 00:30:00 GMT 10000"],
])("no way saves a moment that Salesforce does not keep: %s %s", async (field, value, text) => {
  const org = await openOrg({ definition: DEFINITION });

  for (const [way, save] of Object.entries(WAYS)) {
    const refusal = text === null ? "" : `FIELD_INTEGRITY_EXCEPTION:${text}:${field}`;
    expect(await save(org, field, value), way).toBe(refusal);
  }
  expect(await org.records("SELECT Id FROM Stay__c")).toHaveLength(text === null ? 3 : 0);
});

test.each([
  ["Bath;Quiet;Lift", "Quiet;Lift;Bath"],
  ["Lift;Lift;Quiet;Lift", "Quiet;Lift"],
  ["Roof;Bath;Attic;Sea;Roof", "Sea;Bath;Roof;Attic"],
  [";Bath;;Quiet;", "Quiet;Bath"],
  [";", null],
])("every way saves the chosen values once, in the order of the picklist: %s", async (sent, kept) => {
  const org = await openOrg({ definition: DEFINITION });

  for (const [way, save] of Object.entries(WAYS)) expect(await save(org, "Wishes__c", sent), way).toBe("");

  const records = await org.records("SELECT Wishes__c FROM Stay__c");
  expect(records.map(({ Wishes__c }) => Wishes__c)).toEqual([kept, kept, kept]);
});

test.each([
  [true, ["LastActivityDate", "LastViewedDate", "LastReferencedDate"]],
  [false, ["LastViewedDate", "LastReferencedDate"]],
])(
  "a custom object has the org's dates of use, which no client writes; with activities: %s",
  async (activities, names) => {
    const org = await openOrg({ definition: { objects: [{ name: "Stay__c", activities }] } });
    const id = await org.create("Stay__c", { Name: "a" });

    const { json } = await org.get("sobjects/Stay__c/describe");
    const fields = [...(json["fields"] ?? [])].filter(({ name }) =>
      /^Last(Activity|Viewed|Referenced)/.test(String(name)),
    );
    const refused = await org.call("PATCH", `sobjects/Stay__c/${id}`, { LastViewedDate: "2026-02-03T04:05:06Z" });

    expect(fields.map(({ name }) => name)).toEqual(names);
    for (const field of fields)
      expect(field).toMatchObject({ createable: false, updateable: false, nillable: true, calculated: false });
    expect(refused.json[0]).toMatchObject({ errorCode: "INVALID_FIELD_FOR_INSERT_UPDATE", fields: ["LastViewedDate"] });
    expect(await org.records(`SELECT ${names.join(", ")} FROM Stay__c`)).toMatchObject([{ LastViewedDate: null }]);
  },
);

test.each([
  ["2026-01-01", 2026, 1, "2026 1"],
  ["2026-06-30", 2026, 2, "2026 2"],
  ["2027-12-31", 2027, 4, "2027 4"],
])(
  "an opportunity that closes on %s is of the fiscal period of that day, also when the day is another",
  async (day, year, quarter, period) => {
    const org = await openOrg();
    const id = await org.create("Opportunity", { Name: "a", StageName: "Prospecting", CloseDate: "2025-08-01" });

    const before = await org.records("SELECT FiscalYear, FiscalQuarter, Fiscal FROM Opportunity");
    await org.call("PATCH", `sobjects/Opportunity/${id}`, { CloseDate: day });
    const after = await org.records(`SELECT FiscalQuarter, Fiscal FROM Opportunity WHERE FiscalYear = ${year}`);

    expect(before).toMatchObject([{ FiscalYear: 2025, FiscalQuarter: 3, Fiscal: "2025 3" }]);
    expect(after).toMatchObject([{ FiscalQuarter: quarter, Fiscal: period }]);
  },
);
