import { expect, test } from "vitest";
import { createOrgUser } from "../../support/clients/org-user.ts";
import { Client, type Json, openOrg } from "./support/open-org.ts";

/** What a production org refuses for reasons that no record is to blame for, or by rules of its administrator. */

test("duplicate rules refuse or alert, and assignment rules choose an owner, each as its header says, by REST and SOAP", async () => {
  const owner = "sales@bridge.example";
  const org = await openOrg({
    definition: {
      objects: [
        {
          name: "Lead",
          duplicateRules: [
            { name: "Same_name", fields: ["LastName", "FirstName"], action: "alert" },
            { name: "Same_phone", fields: ["Phone"] },
          ],
          assignmentRules: [{ condition: 'ISPICKVAL(LeadSource, "Web")', owner }],
        },
      ],
    },
  });
  const [sales, admin] = [(await createOrgUser(org.org, "sales")).userId, org.org.userId];
  const ownerOf = async (id: unknown) => String((await org.get(`sobjects/Lead/${id}`)).json["OwnerId"]);
  const rest = async (fields: object, headers = {}) => {
    const { json } = await org.call("POST", "sobjects/Lead", { LastName: "L", Company: "C", ...fields }, headers);
    return json["success"] ? ownerOf(json["id"]) : json[0]?.["errorCode"];
  };
  const soap = async (fields: object, header = "") => {
    const elements = Object.entries({ LastName: "L", Company: "C", ...fields }).map(
      ([name, v]) => `<${name}>${v}</${name}>`,
    );
    const { text } = await org.soap(
      `<create><sObjects><type>Lead</type>${elements.join("")}</sObjects></create>`,
      header,
    );
    const id = /<id>(\w+)<\/id>/.exec(text)?.[1];
    return id ? ownerOf(id) : /<statusCode>(\w+)</.exec(text)?.[1];
  };
  const allowed = { "Sforce-Duplicate-Rule-Header": "allowSave=true" };
  const allow = "<DuplicateRuleHeader><allowSave>true</allowSave></DuplicateRuleHeader>";
  const assign = "<AssignmentRuleHeader><useDefaultRule>true</useDefaultRule></AssignmentRuleHeader>";
  const web = (FirstName: string) => ({ FirstName, LeadSource: "Web" });

  expect(await rest({ ...web("a"), Phone: "1" })).toBe(sales);
  expect(await rest(web("b"), { "Sforce-Auto-Assign": "FALSE" })).toBe(admin);
  expect(await rest({ FirstName: "c", LeadSource: "Other" })).toBe(admin);
  expect(await soap(web("d"))).toBe(admin);
  expect(await soap(web("e"), assign)).toBe(sales);
  expect(await rest(web("a"))).toBe("DUPLICATES_DETECTED");
  expect(await soap(web("a"))).toBe("DUPLICATES_DETECTED");
  expect(await rest({ FirstName: "f", Phone: "1" }, allowed)).toBe("DUPLICATES_DETECTED");
  expect(await rest(web("a"), allowed)).toBe(sales);
  expect(await soap(web("a"), allow)).toBe(admin);
  // A record that is a duplicate already may change elsewhere.
  const [one] = await org.records("SELECT Id FROM Lead WHERE FirstName = 'a' LIMIT 1");
  expect((await org.call("PATCH", `sobjects/Lead/${one?.["Id"]}`, { Title: "Professor" })).status).toBe(204);
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
