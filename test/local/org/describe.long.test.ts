import { expect, test } from "vitest";
import { startOrg } from "../../../lib/local/org/start-org.ts";
import { Client, freshFolder, type Json, ManualClock, openOrg } from "./support/open-org.ts";

// The keys of the reference's samples (2.2 and 2.3), in its order.
const BRIEF =
  "activateable associateEntityType associateParentEntity createable custom customSetting deepCloneable deletable deprecatedAndHidden feedEnabled hasSubtypes isInterface isSubtype keyPrefix label labelPlural layoutable mergeable mruEnabled name queryable replicateable retrieveable searchable triggerable undeletable updateable urls".split(
    " ",
  );
const FULL = [
  ...BRIEF,
  ..."actionOverrides childRelationships compactLayoutable defaultImplementation extendedBy extendsInterfaces implementedBy implementsInterfaces fields listviewable lookupLayoutable namedLayoutInfos networkScopeFieldName recordTypeInfos searchLayoutable sobjectDescribeOption supportedScopes".split(
    " ",
  ),
];
const FIELD =
  "aggregatable aiPredictionField autoNumber byteLength calculated calculatedFormula cascadeDelete caseSensitive compoundFieldName controllerName createable custom defaultValue defaultValueFormula defaultedOnCreate dependentPicklist deprecatedAndHidden digits displayLocationInDecimal encrypted externalId extraTypeInfo filterable filteredLookupInfo formulaTreatNullNumberAsZero groupable highScaleNumber htmlFormatted idLookup inlineHelpText label length mask maskType name nameField namePointing nillable permissionable picklistValues polymorphicForeignKey precision queryByDistance referenceTargetField referenceTo relationshipName relationshipOrder restrictedDelete restrictedPicklist scale searchPrefilterable soapType sortable type unique updateable writeRequiresMasterRead".split(
    " ",
  );
const CHILD =
  "cascadeDelete childSObject deprecatedAndHidden field junctionIdListNames junctionReferenceTo relationshipName restrictedDelete".split(
    " ",
  );
const RECORD_TYPE = "active available defaultRecordTypeMapping developerName master name recordTypeId urls".split(" ");
const TYPES =
  "id string boolean int double currency percent date datetime time email phone url textarea picklist multipicklist combobox reference base64 address location encryptedstring anyType complexvalue long".split(
    " ",
  );

test("describeGlobal and describe leave out no key, on any object", async () => {
  const org = await openOrg();

  const global = await org.get("sobjects");
  const missing: string[] = [];
  const expectKeys = (place: string, value: Json | undefined, keys: readonly string[]) =>
    missing.push(...keys.filter((key) => !(key in (value ?? {}))).map((key) => `${place}.${key}`));
  for (const brief of global.json["sobjects"] ?? []) {
    const name = String(brief["name"]);
    expectKeys(name, brief, BRIEF);
    const full = (await org.get(`sobjects/${name}/describe`)).json;
    expectKeys(name, full, FULL);
    for (const field of full["fields"] ?? []) expectKeys(`${name}.${String(field["name"])}`, field, FIELD);
    for (const child of full["childRelationships"] ?? []) expectKeys(`${name} child`, child, CHILD);
    for (const type of full["recordTypeInfos"] ?? []) expectKeys(`${name} record type`, type, RECORD_TYPE);
  }

  expect(global.json).toMatchObject({ encoding: "UTF-8", maxBatchSize: 200 });
  expect(missing).toEqual([]);
});

test("what describe promises of a field is what saving and querying keep", async () => {
  const org = await openOrg();
  const { json } = await org.get("sobjects/Account/describe");
  const fields = [...(json["fields"] ?? [])];
  const nameField = fields.find((field) => String(field["name"]) === "Name");

  expect(nameField).toMatchObject({
    label: "Account Name",
    length: 255,
    byteLength: 765,
    nillable: false,
    nameField: true,
    soapType: "xsd:string",
    type: "string",
    createable: true,
  });
  const contacts = [...(json["childRelationships"] ?? [])].find(
    (child) => String(child["relationshipName"]) === "Contacts",
  );
  const accountId = [...((await org.get("sobjects/Contact/describe")).json["fields"] ?? [])].find(
    (field) => String(field["name"]) === "AccountId",
  );

  expect(contacts).toMatchObject({ childSObject: "Contact", field: "AccountId", cascadeDelete: true });
  expect(accountId).toMatchObject({
    type: "reference",
    referenceTo: ["Account"],
    relationshipName: "Account",
    nillable: true,
    cascadeDelete: false,
    relationshipOrder: null,
  });
  expect(fields.every((field) => TYPES.includes(String(field["type"])))).toBe(true);
  for (const field of fields) {
    const answer = await org.query(`SELECT Id FROM Account WHERE ${String(field["name"])} = null`);
    expect([field["name"], answer.status]).toEqual([field["name"], field["filterable"] ? 200 : 400]);
  }
});

test("metadata is answered with 304 to those who have it, until a definition changes it", async () => {
  const dataDir = await freshFolder();
  const clock = new ManualClock("2026-02-03T04:05:06.789Z");
  const first = await startOrg({ dataDir, clock });
  const ask = (org: Client) =>
    org.call("GET", "sobjects/Account/describe", undefined, { "If-Modified-Since": "Tue, 03 Feb 2026 04:05:06 GMT" });

  const known = await ask(new Client(first));
  await first.close();
  clock.pass(60_000);
  const changed = await ask(
    await openOrg({
      dataDir,
      clock,
      definition: { objects: [{ name: "Account", fields: [{ name: "Note__c", type: "text" }] }] },
    }),
  );

  expect([known.status, known.text]).toEqual([304, ""]);
  expect([changed.status, changed.headers.get("last-modified")]).toEqual([200, "Tue, 03 Feb 2026 04:06:06 GMT"]);
});

test("the versions 45 to 68 are listed without a session, the newest last", async () => {
  const org = await openOrg();
  org.token = "none";

  const answer = await org.get("/services/data");

  expect([...answer.json].length).toBe(24);
  expect([...answer.json].slice(-2)).toEqual([
    { label: "Summer '26", url: "/services/data/v67.0", version: "67.0" },
    { label: "Winter '27", url: "/services/data/v68.0", version: "68.0" },
  ]);
});
