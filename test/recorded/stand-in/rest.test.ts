import { expect, test } from "vitest";
import { answerOf, expectStated, type Found } from "./compare.ts";
import { openStandIn } from "./embedded-org.ts";
import { REST_REQUESTS } from "./rest-requests.ts";
import { shapeDifferences } from "./shapes.ts";

test("REST is answered as orgs answer it, but for what is stated", async () => {
  const standIn = await openStandIn();
  await standIn.org.call("POST", "/_sim/clock", { advanceMilliseconds: 5 * 60_000 });
  const found: Found[] = [];
  for (const [request, kind, name, ask] of REST_REQUESTS) {
    const theirs = answerOf(kind, name);
    const ours = await ask(standIn);
    const status = theirs.status ?? 200;
    found.push([
      request,
      [
        ...(status === ours.status
          ? shapeDifferences(JSON.parse(theirs.text), ours.json)
          : [`status ${ours.status}, not ${status}`]),
        ...codeDifference(theirs.text, ours.text),
      ],
    ]);
  }

  expectStated(found);
});

/** Codes of errors that are not the same. */
function codeDifference(theirs: string, ours: string): readonly string[] {
  const codes = (text: string) =>
    [...text.matchAll(/"(?:errorCode|statusCode|error)"\s*:\s*"(\w+)"/g)].map(([, code]) => code).join() || "none";
  return codes(theirs) === codes(ours) ? [] : [`code ${codes(ours)}, not ${codes(theirs)}`];
}

test("limits have the form and the names of an org's, but for what is stated", async () => {
  const { org } = await openStandIn();
  const theirs = JSON.parse(answerOf("counts", "limits of an org of 2026").text) as object;

  const ours = (await org.get("limits")).json as unknown as object;

  const lacks = Object.keys(theirs).filter((name) => !(name in ours)).length;
  const more = Object.keys(ours).filter((name) => !(name in theirs));
  expectStated([
    ["GET limits", [`lacks ${lacks} of ${Object.keys(theirs).length} limits`, `has ${more.join(", ")} besides`]],
  ]);
  for (const limit of Object.values(ours)) expect(shapeDifferences({ Max: 1, Remaining: 1 }, limit)).toEqual([]);
});

const FIELDS =
  "Id, Name, AccountNumber, Industry, Type, BillingCity, BillingState, BillingCountry, Phone, Website, CreatedDate, LastModifiedDate, SystemModstamp";
const PLACE = /^\/services\/data\/v\d+\.0\/query\/\w+-\d+$/;

test("a page with more behind it has the form of an org's, and its place", async () => {
  const { org } = await openStandIn();
  const records = Array.from({ length: 200 }, (_, at) => ({ attributes: { type: "Account" }, Name: `A${at}` }));
  await org.call("POST", "composite/sobjects", { records });
  const theirs = JSON.parse(answerOf("queries", "the first page of 2,086 accounts").text) as {
    readonly nextRecordsUrl: string;
  };

  const soql = encodeURIComponent(`SELECT ${FIELDS} FROM Account`);
  const ours = await org.call("GET", `query?q=${soql}`, undefined, { "Sforce-Query-Options": "batchSize=200" });

  expectStated([["GET query with more pages", shapeDifferences(theirs, ours.json)]]);
  expect([theirs.nextRecordsUrl, ours.json["nextRecordsUrl"]]).toEqual([
    expect.stringMatching(PLACE),
    expect.stringMatching(PLACE),
  ]);
  expect(ours.headers.get("sforce-limit-info")).toMatch(/^api-usage=\d+\/15000$/);
});
