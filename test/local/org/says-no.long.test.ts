import { expect, test } from "vitest";
import { createOrgUser } from "../../support/clients/org-user.ts";
import { Client, type Json, openOrg } from "./support/open-org.ts";

/** What a production org refuses for reasons that no record is to blame for, or by rules of its administrator. */

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
