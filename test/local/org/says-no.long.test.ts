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
