import fc from "fast-check";
import { expect, test } from "vitest";
import { openOrg } from "./support/open-org.ts";

test("what describe promises of a field is what saving and querying keep", async () => {
  const org = await openOrg();
  const { json } = await org.get("sobjects/Account/describe");
  const fields = [...(json["fields"] ?? [])];
  const nameField = fields.find((field) => String(field["name"]) === "Name");

  expect(nameField).toMatchObject({ length: 255, byteLength: 765, nillable: false, nameField: true, type: "string" });
  const contacts = [...(json["childRelationships"] ?? [])].find(
    (child) => String(child["relationshipName"]) === "Contacts",
  );
  expect(contacts).toMatchObject({ childSObject: "Contact", field: "AccountId", cascadeDelete: true });
  for (const field of fields) {
    const answer = await org.query(`SELECT Id FROM Account WHERE ${String(field["name"])} = null`);
    expect([field["name"], answer.status]).toEqual([field["name"], field["filterable"] ? 200 : 400]);
  }
});

test("no value that a client can put into a field makes the org fail, and what it accepts it gives back", async () => {
  const org = await openOrg();
  const { json } = await org.get("sobjects/Contact/describe");
  const names = [...(json["fields"] ?? [])]
    .filter((field) => field["createable"])
    .map((field) => String(field["name"]));

  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...names),
      fc.oneof(fc.jsonValue(), fc.string({ unit: "binary", maxLength: 40 })),
      async (name, value) => {
        const answer = await org.call("POST", "sobjects/Contact", { LastName: "Rose", [name]: value });
        expect([201, 400], `${name}: ${answer.text}`).toContain(answer.status);
        if (answer.status === 201) expect((await org.get(`sobjects/Contact/${answer.json["id"]}`)).status).toBe(200);
      },
    ),
    {
      numRuns: 200,
      examples: names.map((name): [string, fc.JsonValue] => [name, { toString: false }]),
    },
  );
});
