import { test } from "vitest";
import type { OrgField, OrgObject } from "../../../lib/config/org-ports.ts";
import { describedBy, type RecordedDescribe } from "../described-by.ts";
import { recorded } from "../recorded.ts";
import { expectStated, lacking } from "./compare.ts";
import { openStandIn } from "./embedded-org.ts";

const DESCRIBES = recorded<RecordedDescribe>("describes");
const NEWEST = DESCRIBES.filter(({ name }) => name.startsWith("Account of a new org"));
const COMPARED = DESCRIBES.filter(({ name }) => /^(Account|Contact|Case|Lead|Opportunity|Event) of Cumulus/.test(name));

test("a describe has the names of an org's, for the object and for its fields", async () => {
  const { org } = await openStandIn();
  const answer = (await org.get("sobjects/Account/describe")).json as unknown as { readonly fields: readonly object[] };

  for (const { keysOfObject, keysOfField } of NEWEST)
    expectStated([
      ["GET describe", lacking(keysOfObject.split(" "), Object.keys(answer))],
      ["GET describe, each field", lacking(keysOfField.split(" "), Object.keys(answer.fields[0] ?? {}))],
    ]);
});

test("the fields of six objects are as in an org, but for what is stated", async () => {
  const { org } = await openStandIn();
  const kinds = new Map<string, string[]>();
  for (const describe of COMPARED) {
    const theirs = describedBy(describe);
    const ours = (await org.get(`sobjects/${theirs.name}/describe`)).json as unknown as Described;
    if (ours.mergeable !== describe.mergeable) kinds.set(`mergeable is ${ours.mergeable}`, [theirs.name]);
    for (const [kind, field] of fieldDifferences(theirs, ours))
      kinds.set(kind, [...(kinds.get(kind) ?? []), `${theirs.name}.${field}`]);
  }

  expectStated([["GET describe of six objects", [...kinds].map(([kind, fields]) => `${kind}: ${fields.join(", ")}`)]]);
});

type Described = OrgObject & { readonly mergeable: boolean };

/** Differences of the fields that both have, by kind and field; that an org has more fields is no difference. */
function fieldDifferences(theirs: OrgObject, ours: OrgObject): readonly (readonly [kind: string, field: string])[] {
  return theirs.fields.flatMap((field) => {
    const own = ours.fields.find(({ name }) => name === field.name);
    if (!own) return [];
    const keys = (Object.keys(field) as (keyof OrgField)[]).filter((key) => key !== "label");
    return keys
      .filter((key) => JSON.stringify(field[key]) !== JSON.stringify(own[key]))
      .map((key) => [`${key} is ${brief(own[key])}, not ${brief(field[key])}`, field.name] as const);
  });
}

const brief = (value: unknown) =>
  Array.isArray(value) && value.length > 4 ? `${value.length} objects` : String(value ?? "null");
