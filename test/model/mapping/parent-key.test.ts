import { expect, test } from "vitest";
import { fold } from "../../../lib/model/change/fold.ts";
import { type DescribedField, type DescribedObject, shapeOf } from "../../../lib/model/mapping/describe.ts";
import type { ColumnValues } from "../../../lib/model/mapping/shape.ts";
import { everything } from "../../../lib/model/mapping/soql.ts";
import { imageOf, imageOfLine } from "../../../lib/model/record/incoming.ts";
import { holds } from "../../../lib/sync/doubt/read-back-updates.ts";
import { describedField as field } from "../../support/worlds/described-field.ts";
import { contactShape, mappingOf } from "../../support/worlds/shapes.ts";

const lookup = (name: string, relationshipName: string, ...referenceTo: readonly string[]) =>
  field(name, { type: "reference", relationshipName, referenceTo });
const object = (name: string, ...fields: readonly DescribedField[]): DescribedObject => ({
  name,
  queryable: true,
  fields: [field("Id", { type: "id" }), field("SystemModstamp", { type: "datetime" }), ...fields],
});

const KEY = field("Key__c", { externalId: true, length: 20 });
const ORDER = object(
  "Order__c",
  field("Name"),
  { ...lookup("AccountId", "Account", "Account"), nillable: false },
  lookup("Project__c", "Project__r", "Project__c"),
  lookup("OwnerId", "Owner", "Group", "User"),
);
const PARENTS = [object("Account", KEY, field("Name")), object("Project__c", KEY), object("User", KEY)];

const shapeWith = (...fields: readonly string[]) =>
  shapeOf({ ...mappingOf(contactShape()), fields }, ORDER, "salesforce", PARENTS);
const SHAPE = shapeWith("AccountId", "Account__Key__c", "Project__r.Key__c", "Name");

const change = { id: 1, action: "UPDATE", recordId: 1, sfid: "801000000000001AAA", old: {}, attempts: 0 } as const;
const sent = (values: ColumnValues) =>
  fold(SHAPE, [{ ...change, values, capturedAt: new Date(0) }]).batches[0]?.writes[0]?.record;

test.each(["Account.Key__c", "ACCOUNT__R__KEY__C"])(
  "%s is the column account__key__c, with the type of the parent's field",
  (name) => {
    const parent = { reference: "AccountId", relationship: "Account", object: "Account", field: "Key__c" };

    expect(shapeWith(name).columns.find((column) => column.parent)).toMatchObject({
      ...{ field: "Account__Key__c", column: "account__key__c", type: "string", length: 20, parent },
    });
    expect(shapeWith(name).lacking, "the lookup is required, and given").toBeUndefined();
  },
);

test("a key of one of several objects is refused with the reason", () => {
  expect(() => shapeWith("Owner.Key__c")).toThrow("OwnerId points to several objects");
  expect(() => shapeWith("Account.Name")).toThrow("Account has no external id Name");
});

test("a parent's key is read along the relationship, from JSON and from CSV", () => {
  const own = { Id: "801000000000001AAA", SystemModstamp: "2026-01-01T00:00:00.000Z" };

  expect(everything(SHAPE)).toContain("Account.Key__c");
  expect(everything(SHAPE)).toContain("Project__r.Key__c");
  expect(imageOf(SHAPE, { ...own, Account: { Key__c: "A" }, Project__r: null }).values).toMatchObject({
    account__key__c: "A",
    project__r__key__c: null,
  });
  const names = [...Object.keys(own), "Project__r.Key__c", "Account.Key__c"];
  const image = imageOfLine(SHAPE, { names, text: `${Object.values(own).join()},,"A"` });
  expect(image).toMatchObject({ sfid: own.Id, systemModstamp: new Date(own.SystemModstamp), isDeleted: false });
  expect(image.values).toMatchObject({ name: null, account__key__c: "A", project__r__key__c: null });
});

test("a parent's key goes out as a parent, NULL clears the lookup, and a parent's id wins over its key, a key over an id that is cleared", () => {
  const accountid = "001000000000001AAA";
  const parents = [{ relationship: "Account", object: "Account", field: "Key__c", value: "A" }];

  expect(sent({ account__key__c: "A", name: "N" })).toMatchObject({ values: { Name: "N" }, parents });
  expect(sent({ account__key__c: null })).toEqual({ id: "801000000000001AAA", values: { AccountId: null } });
  expect(sent({ account__key__c: "A", accountid })?.parents).toBeUndefined();
  expect(sent({ account__key__c: "A", accountid: null })).toMatchObject({ values: {}, parents });
});

test("a write that was lost is recognised by its parents, whose keys Salesforce finds in any case", () => {
  const record = sent({ account__key__c: "a-1" });
  const cleared = sent({ account__key__c: null });
  if (!record || !cleared) throw new Error("nothing was sent");

  expect(holds(SHAPE, { Account: { Key__c: "A-1" } }, record)).toBe(true);
  expect(holds(SHAPE, { Account: { Key__c: "A-2" } }, record)).toBe(false);
  expect(holds(SHAPE, { Account: { Key__c: "A-1" } }, cleared)).toBe(false);
});
