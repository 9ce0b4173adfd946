import { expect, test } from "vitest";
import { createOrgUser } from "../../support/clients/org-user.ts";
import { Client, type Json, openOrg } from "./support/open-org.ts";

/** What a production org refuses for reasons that no record is to blame for, or by rules of its administrator. */

const contacts = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, i) => ({ attributes: { type: "Contact" }, LastName: `L${i}`, ...more }));
const codesOf = (answer: { json: Json }) =>
  [...answer.json].map((result) => (result["success"] ? "saved" : result["errors"]?.[0]?.["statusCode"]));
const inSoap = (...names: string[]) =>
  `<create>${names.map((name) => `<sObjects><type>Contact</type><LastName>${name}</LastName></sObjects>`).join("")}</create>`;

test("a trigger whose limit is two records of a transaction refuses three as a whole, by REST, SOAP and in a job", async () => {
  const org = await openOrg();
  await org.call("POST", "/_sim/faults", { kind: "governorLimit", object: "Contact", size: 2, times: 0 });
  const refusal = "ContactTrigger: System.LimitException: Apex CPU time limit exceeded";

  const three = await org.call("POST", "composite/sobjects", { records: contacts(3) });
  const bySoap = await org.soap(inSoap("A", "B", "C"));
  const job = await org.call("POST", "jobs/ingest", { object: "Contact", operation: "insert" });
  await org.call("PUT", `jobs/ingest/${job.json["id"]}/batches`, "LastName\nA\nB\nC\n");
  await org.call("PATCH", `jobs/ingest/${job.json["id"]}`, { state: "UploadComplete" });
  await expect.poll(async () => (await org.get(`jobs/ingest/${job.json["id"]}`)).json["state"]).toBe("JobComplete");

  expect(codesOf(three)).toEqual(Array(3).fill("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY"));
  expect(bySoap.text.split(refusal)).toHaveLength(4);
  expect((await org.get(`jobs/ingest/${job.json["id"]}/failedResults`)).text.split(refusal)).toHaveLength(4);
  expect(await org.records("SELECT Id FROM Contact")).toEqual([]);
  expect(codesOf(await org.call("POST", "composite/sobjects", { records: contacts(2) }))).toEqual(["saved", "saved"]);
});

test("in read-only mode the org is read and saves nothing; without storage it takes no new record, and says so in its limits", async () => {
  const org = await openOrg();
  const id = await org.create("Contact", { LastName: "Before" });
  const change = async () => (await org.call("PATCH", `sobjects/Contact/${id}`, { LastName: "After" })).json;
  const create = async () => codesOf(await org.call("POST", "composite/sobjects", { records: contacts(1) }));

  await org.call("PUT", "/_sim/mode", { readOnly: true });
  expect([(await change())[0]?.["errorCode"], ...(await create())]).toEqual(
    Array(2).fill("INSERT_UPDATE_DELETE_NOT_ALLOWED_DURING_MAINTENANCE"),
  );
  expect(await org.records("SELECT LastName FROM Contact")).toMatchObject([{ LastName: "Before" }]);
  await org.call("PUT", "/_sim/mode", { readOnly: false, storageFull: true });

  expect(await create()).toEqual(["STORAGE_LIMIT_EXCEEDED"]);
  expect((await org.get("limits")).json["DataStorageMB"]).toEqual({ Max: 5, Remaining: 0 });
  await change();
  expect(await org.records("SELECT LastName FROM Contact")).toMatchObject([{ LastName: "After" }]);
});

const RULES = {
  objects: [
    {
      name: "Contact",
      duplicateRules: [
        { name: "Same_name", fields: ["LastName", "FirstName"], action: "alert" as const },
        { name: "Same_phone", fields: ["Phone"] },
      ],
    },
  ],
};

test("a duplicate is refused; one that a rule only alerts of is saved when the header says so, by REST and SOAP", async () => {
  const org = await openOrg({ definition: RULES });
  const curie = { LastName: "Curie", FirstName: "Marie" };
  await org.create("Contact", { ...curie, Phone: "1" });
  const allowed = { "Sforce-Duplicate-Rule-Header": "allowSave=true" };
  const status = async (record: object, headers = {}) => {
    const { json } = await org.call("POST", "sobjects/Contact", record, headers);
    return json["success"] ?? json[0]?.["errorCode"];
  };

  expect(await status(curie)).toBe("DUPLICATES_DETECTED");
  expect(await status({ LastName: "Curie", FirstName: "Pierre" })).toBe(true);
  expect(await status({ LastName: "Joliot", Phone: "1" }, allowed)).toBe("DUPLICATES_DETECTED");
  expect(await status(curie, allowed)).toBe(true);
  const record =
    "<create><sObjects><type>Contact</type><LastName>Curie</LastName><FirstName>Marie</FirstName></sObjects></create>";
  expect((await org.soap(record)).text).toContain("DUPLICATES_DETECTED");
  const header = "<DuplicateRuleHeader><allowSave>true</allowSave></DuplicateRuleHeader>";
  expect((await org.soap(record, header)).text).toContain("<success>true</success>");
  // A record that is a duplicate already may change elsewhere.
  const [one] = await org.records("SELECT Id FROM Contact WHERE FirstName = 'Marie' LIMIT 1");
  expect((await org.call("PATCH", `sobjects/Contact/${one?.["Id"]}`, { Title: "Professor" })).status).toBe(204);
});

test("assignment rules choose a new lead's owner: by REST by default, by SOAP where asked to", async () => {
  const owner = "sales@bridge.example";
  const rules = [{ condition: 'ISPICKVAL(LeadSource, "Web")', owner }];
  const org = await openOrg({ definition: { objects: [{ name: "Lead", assignmentRules: rules }] } });
  const { userId } = await createOrgUser(org.org, "sales");
  const lead = { LastName: "L", Company: "C", LeadSource: "Web" };
  const admin = org.org.userId;
  const rest = async (record: object, headers = {}) => {
    const { json } = await org.call("POST", "sobjects/Lead", record, headers);
    return (await org.get(`sobjects/Lead/${json["id"]}`)).json["OwnerId"];
  };
  const soap = async (header = "") => {
    const inner =
      "<create><sObjects><type>Lead</type><LastName>L</LastName><Company>C</Company><LeadSource>Web</LeadSource></sObjects></create>";
    const id = /<id>(\w+)<\/id>/.exec((await org.soap(inner, header)).text)?.[1];
    return (await org.get(`sobjects/Lead/${id}`)).json["OwnerId"];
  };

  expect(await rest(lead)).toBe(userId);
  expect(await rest({ ...lead, LeadSource: "Other" })).toBe(admin);
  expect(await rest(lead, { "Sforce-Auto-Assign": "FALSE" })).toBe(admin);
  expect(await soap()).toBe(admin);
  expect(await soap("<AssignmentRuleHeader><useDefaultRule>true</useDefaultRule></AssignmentRuleHeader>")).toBe(userId);
});

test("a field that a user may not read is not there for that user alone, and one that may not be edited is read only", async () => {
  const org = await openOrg();
  const { username, accessToken } = await createOrgUser(org.org, "narrow");
  const narrow = new Client(org.org);
  narrow.token = accessToken;
  const right = { username, object: "Contact" };
  await org.call("PUT", "/_sim/field-access", { ...right, field: "Title", read: false });
  await org.call("PUT", "/_sim/field-access", { ...right, field: "Phone" });
  const id = await org.create("Contact", { LastName: "Seen", Title: "Hidden", Phone: "1" });
  const fieldsOf = async (client: Client) =>
    new Map([...((await client.get("sobjects/Contact/describe")).json["fields"] ?? [])].map((f) => [f["name"], f]));
  const codeOf = async (fields: object) =>
    (await narrow.call("PATCH", `sobjects/Contact/${id}`, fields)).json[0]?.["errorCode"];

  const [seen, whole] = [await fieldsOf(narrow), await fieldsOf(org)];
  expect([seen.has("Title" as unknown as Json), whole.has("Title" as unknown as Json)]).toEqual([false, true]);
  expect(seen.get("Phone" as unknown as Json)).toMatchObject({ createable: false, updateable: false });
  expect((await narrow.query("SELECT Title FROM Contact")).json[0]).toMatchObject({ errorCode: "INVALID_FIELD" });
  const bySoap = `<update><sObjects><type>Contact</type><Id>${id}</Id><Title>x</Title></sObjects></update>`;
  expect((await narrow.soap(bySoap)).text).toContain("<sf:exceptionCode>INVALID_FIELD</sf:exceptionCode>");
  expect(await codeOf({ Phone: "2" })).toBe("INVALID_FIELD_FOR_INSERT_UPDATE");
  expect(await codeOf({ Title: "x" })).toBe("INVALID_FIELD");
  expect(await codeOf({ LastName: "Changed" })).toBeUndefined();
  expect(await org.records("SELECT LastName, Title, Phone FROM Contact")).toMatchObject([
    { LastName: "Changed", Title: "Hidden", Phone: "1" },
  ]);
});
