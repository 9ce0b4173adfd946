import { createServer } from "node:http";
import { expect, test } from "vitest";
import type { OrgField, OrgObject } from "../../../lib/config/org-ports.ts";
import { listenForTest } from "../../adapters/listen.ts";
import { type Answer, type Client, openOrg } from "../../local/org/support/open-org.ts";
import { describedBy, type RecordedDescribe, recorded } from "../recorded.ts";
import { elementsIn, type XmlElement } from "../xml-elements.ts";
import { answerOf, asShape, type Found, lacking, shapeDifferences, statedIn } from "./compare.ts";

const expectStated = statedIn("lib/local/org/README.md");

const KEY = { name: "external_id__c", type: "text", length: 40, externalId: true, unique: true } as const;

/** An embedded org with some records, for one test, and the ids of two. */
async function openStandIn() {
  const org = await openOrg({ definition: { objects: [{ name: "Opportunity", fields: [KEY] }] } });
  const accountId = await org.create("Account", { Name: "Edge Communications", Industry: "Apparel" });
  const deletedId = await org.create("Account", { Name: "Gone" });
  await org.call("DELETE", `sobjects/Account/${deletedId}`);
  return { org, accountId, deletedId };
}

type StandIn = Awaited<ReturnType<typeof openStandIn>>;

/** How the stand-in is asked for what a recorded answer was given to: a path to get, or the request. */
type Asked = readonly [kind: string, name: string, ask: string | ((standIn: StandIn) => Promise<Answer>)];

const query = (soql: string) => `query?q=${encodeURIComponent(soql)}`;
const record = (type: string, more: object) => ({ attributes: { type }, ...more });
const create = (fields: object) => (standIn: StandIn) => standIn.org.call("POST", "sobjects/Account", fields);

/** A moment so many minutes from now. */
const at = (minutes: number) =>
  encodeURIComponent(`${new Date(Date.now() + minutes * 60_000).toISOString().slice(0, 19)}+00:00`);

const ASKED: Readonly<Record<string, Asked>> = {
  "GET /services/data": ["sign-in", "the versions of an org of 2026", "/services/data"],
  "GET sobjects": ["counts", "objects: the first four of 110", "sobjects"],
  "GET query": ["queries", "six accounts, printed with spaces", query("SELECT Id, Name FROM Account")],
  "GET query of no record": ["queries", "no record, compact", query("SELECT Id FROM Lead")],
  "GET query of a count": ["queries", "a count with an expression", query("SELECT COUNT(Id) FROM Account")],
  "GET query of an unknown object": [
    "refusals",
    "an unknown object, with a window of the query",
    query("SELECT Id FROM Accout"),
  ],
  "GET with a session that has ended": [
    "refusals",
    "a session that has ended",
    ({ org }) => org.call("GET", "limits", undefined, { Authorization: "Bearer 00Dx!no" }),
  ],
  "GET describe of an unknown object": [
    "refusals",
    "a describe of an object that is not there",
    "sobjects/Whizbang/describe",
  ],
  "GET limits/recordCount": [
    "counts",
    "recordCount: three, though ten are there",
    "limits/recordCount?sObjects=Account",
  ],
  "GET limits/recordCount of an object without records": [
    "counts",
    "recordCount: nothing of an object without records",
    "limits/recordCount?sObjects=Opportunity",
  ],
  "GET deleted": [
    "counts",
    "getDeleted: one",
    ({ org }) => org.get(`sobjects/Account/deleted/?start=${at(-2)}&end=${at(2)}`),
  ],
  "GET userinfo": ["sign-in", "the connected user", "/services/oauth2/userinfo"],
  "POST token with a wrong password": ["sign-in", "a refused login", ({ org }) => signIn(org, { password: "no" })],
  "POST token with an unknown consumer key": [
    "sign-in",
    "an unknown consumer key",
    ({ org }) => signIn(org, { client_id: "no", client_secret: "no" }),
  ],
  "POST a record": ["rest-saves", "a record, made", create({ Name: "New" })],
  "POST a record with an unknown field": ["refusals", "an unknown field", create({ Name: "New", AccountNumer: "1" })],
  "POST a collection": [
    "rest-saves",
    "a collection, made",
    ({ org }) =>
      org.call("POST", "composite/sobjects", { allOrNone: false, records: [record("Account", { Name: "New" })] }),
  ],
};

async function signIn({ org }: Client, wrong: Readonly<Record<string, string>>): Promise<Answer> {
  const { clientId: client_id, clientSecret: client_secret, username, password } = org;
  const grant = { grant_type: "password", client_id, client_secret, username, password, ...wrong };
  const response = await fetch(`${org.url}/services/oauth2/token`, {
    method: "POST",
    body: new URLSearchParams(grant),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as Answer["json"] };
}

test("REST is answered as orgs answer it, but for what is stated", async () => {
  const standIn = await openStandIn();
  await standIn.org.call("POST", "/_sim/clock", { advanceMilliseconds: 5 * 60_000 });
  const found: Found[] = [];
  for (const [request, [kind, name, ask]] of Object.entries(ASKED)) {
    const { text, status = 200 } = answerOf(kind, name);
    const ours = await (typeof ask === "string" ? standIn.org.get(ask) : ask(standIn));
    const differences =
      status === ours.status ? shapeDifferences(JSON.parse(text), ours.json) : [`status ${ours.status}, not ${status}`];
    found.push([request, [...differences, ...difference("code", codesIn(text), codesIn(ours.text))]]);
  }

  expectStated(found);
});

const codesIn = (text: string): string =>
  [...text.matchAll(/"(?:errorCode|statusCode|error)"\s*:\s*"(\w+)"/g)].map(([, code]) => code).join() || "none";
const difference = (what: string, theirs: string, ours: string): readonly string[] =>
  theirs === ours ? [] : [`${what} ${ours}, not ${theirs}`.trim()];

test("limits, and a page with more behind it, have the form of an org's, but for what is stated", async () => {
  const { org } = await openStandIn();
  const theirs = JSON.parse(answerOf("counts", "limits of an org of 2026").text) as object;
  const first = JSON.parse(answerOf("queries", "the first page of 2,086 accounts").text) as { nextRecordsUrl: string };
  const records = Array.from({ length: 200 }, (_, index) => record("Account", { Name: `A${index}` }));
  await org.call("POST", "composite/sobjects", { records });

  const ours = (await org.get("limits")).json as unknown as object;
  const page = await org.call("GET", query(PAGED), undefined, { "Sforce-Query-Options": "batchSize=200" });

  const lacks = Object.keys(theirs).filter((name) => !(name in ours)).length;
  const more = Object.keys(ours).filter((name) => !(name in theirs));
  expectStated([
    ["GET limits", [`lacks ${lacks} of ${Object.keys(theirs).length} limits`, `has ${more.join(", ")} besides`]],
  ]);
  for (const limit of Object.values(ours)) expect(shapeDifferences({ Max: 1, Remaining: 1 }, limit)).toEqual([]);
  expectStated([["GET query with more pages", shapeDifferences(first, page.json)]]);
  const place = /^\/services\/data\/v\d+\.0\/query\/\w+-\d+$/;
  for (const url of [first.nextRecordsUrl, page.json["nextRecordsUrl"]]) expect(url).toMatch(place);
  expect(page.headers.get("sforce-limit-info")).toMatch(/^api-usage=\d+\/15000$/);
});

const PAGED =
  "SELECT Id, Name, AccountNumber, Industry, Type, BillingCity, BillingState, BillingCountry, Phone, Website, CreatedDate, LastModifiedDate, SystemModstamp FROM Account";

const DESCRIBES = recorded<RecordedDescribe>("describes");

test("describes have the names of an org's, and the fields of six objects are as there, but for what is stated", async () => {
  const { org } = await openStandIn();
  const describe = async (name: string) =>
    (await org.get(`sobjects/${name}/describe`)).json as unknown as OrgObject & { readonly mergeable: boolean };
  const account = await describe("Account");
  const kinds = new Map<string, string[]>();
  for (const answer of DESCRIBES.filter(({ name }) => COMPARED.test(name))) {
    const theirs = describedBy(answer);
    const ours = await describe(theirs.name);
    if (ours.mergeable !== answer.mergeable) kinds.set(`mergeable is ${ours.mergeable}`, [theirs.name]);
    for (const [kind, field] of fieldDifferences(theirs, ours))
      kinds.set(kind, [...(kinds.get(kind) ?? []), `${theirs.name}.${field}`]);
  }

  for (const { keysOfObject, keysOfField } of DESCRIBES.filter(({ name }) => name.startsWith("Account of a new org")))
    expectStated([
      ["GET describe", lacking(keysOfObject.split(" "), Object.keys(account))],
      ["GET describe, each field", lacking(keysOfField.split(" "), Object.keys(account.fields[0] ?? {}))],
    ]);
  expectStated([["GET describe of six objects", [...kinds].map(([kind, fields]) => `${kind}: ${fields.join(", ")}`)]]);
});

const COMPARED = /^(Account|Contact|Case|Lead|Opportunity|Event) of Cumulus/;

/** Differences of the fields that both have, by kind and field; that an org has more fields is no difference. */
function fieldDifferences(theirs: OrgObject, ours: OrgObject): readonly (readonly [kind: string, field: string])[] {
  return theirs.fields.flatMap((field) => {
    const own = ours.fields.find(({ name }) => name === field.name) ?? field;
    return (Object.keys(field) as (keyof OrgField)[])
      .filter((key) => key !== "label" && JSON.stringify(field[key]) !== JSON.stringify(own[key]))
      .map((key) => [`${key} is ${brief(own[key])}, not ${brief(field[key])}`, field.name] as const);
  });
}

const brief = (value: unknown) =>
  Array.isArray(value) && value.length > 4 ? `${value.length} objects` : String(value ?? "null");

const CSV =
  '"Name","StageName","external_id__c","CloseDate"\n"Good","Prospecting","k1","2026-01-01"\n"Bad","Prospecting","k2","2003-04-98765"\n';

test("jobs of the Bulk API and their files are as an org's, but for what is stated", async () => {
  const { org } = await openStandIn();
  const upsert = { object: "Opportunity", operation: "upsert", externalIdFieldName: KEY.name, lineEnding: "LF" };
  const made = await org.call("POST", "jobs/ingest", upsert);
  const path = `jobs/ingest/${made.json["id"]}`;
  await org.call("PUT", `${path}/batches`, CSV);
  const started = await org.call("PATCH", path, { state: "UploadComplete" });
  let complete = await org.get(path);
  while (!/JobComplete|Failed|Aborted/.test(String(complete.json["state"]))) complete = await org.get(path);
  const queried = await org.call("POST", "jobs/query", { operation: "query", query: "SELECT Id FROM Account" });
  const jobs = [
    ["POST jobs/ingest", "a job that saves, made", made],
    ["PATCH jobs/ingest", "a job, its upload complete, without counters", started],
    ["GET jobs/ingest", "a job that is complete, with a failure", complete],
    ["POST jobs/query", "a job that queries, made", queried],
  ] as const;
  const files = [
    ["GET failedResults", "failed results: a bad date, some names without quotes", "failedResults"],
    ["GET successfulResults", "successful results", "successfulResults"],
  ] as const;

  expectStated(
    jobs.map(([request, name, { json }]): Found => {
      const theirs = JSON.parse(answerOf("bulk", name).text) as { readonly createdDate: string };
      const form = (date: unknown) => String(date).replace(/\d/g, "0");
      const dates = difference("createdDate is of the form", form(theirs.createdDate), form(json["createdDate"]));
      return [request, [...shapeDifferences(theirs, json), ...dates]];
    }),
  );
  const found = files.map(async ([request, name, file]): Promise<Found> => {
    const { text } = await org.get(`${path}/${file}`);
    return [request, csvDifferences(answerOf("bulk", name).text, text)];
  });
  expectStated(await Promise.all(found));
});

/** Which of Salesforce's own names begin the first line, what of it is in quotes, and the code of a refusal. */
function csvDifferences(theirs: string, ours: string): readonly string[] {
  const names = (text: string) => text.split("\n")[0]?.split(",") ?? [];
  const own = (text: string) => names(text).slice(0, 2).join();
  const quoted = (text: string) =>
    names(text).every((name) => name.startsWith('"')) ? "all names in quotes" : "names of fields without quotes";
  const code = (text: string) => /"([A-Z_]+):/.exec(text)?.[1] ?? "none";
  return [
    ...difference("begins with", own(theirs), own(ours)),
    ...difference("", quoted(theirs), quoted(ours)),
    ...difference("code", code(theirs), code(ours)),
  ];
}

const contact = (fields: string) => `<sObjects><type>Contact</type>${fields}</sObjects>`;
const MADE = `<create>${contact("<LastName>A</LastName>")}</create>`;
const partOf = (xml: string, name: string): unknown => {
  const part = elementsIn(xml).children.find((child) => child.name === name);
  return part ? asShape(part) : null;
};

test("saves by SOAP, their count of calls and a fault are as an org's, but for what is stated", async () => {
  const { org, deletedId } = await openStandIn();
  const key = "<externalIDFieldName>External_Id__c</externalIDFieldName>";
  const strange = "<AccountId>001000000000000AAA</AccountId><LastName>A</LastName>";
  const keyed = "<External_Id__c>k</External_Id__c><LastName>A</LastName>";
  const asked = [
    ["SOAP create", "create: done", MADE, "Body"],
    ["SOAP create, refused", "create: refused, without fields", `<create>${contact(strange)}</create>`, "Body"],
    ["SOAP upsert", "upsert: one made, one found", `<upsert>${key}${contact(keyed)}</upsert>`, "Body"],
    ["SOAP delete, refused", "delete: refused, without fields", `<delete><ids>${deletedId}</ids></delete>`, "Body"],
    ["SOAP header", "update: a locked record, with the count of calls", MADE, "Header"],
    ["SOAP with a session that has ended", "a fault: the session has ended", "<getUserInfo/>", "Body"],
  ] as const;
  const found: Found[] = [];
  for (const [request, name, body, part] of asked) {
    if (request.includes("ended")) org.token = "00Dx!no";
    const theirs = answerOf("soap", name);
    const { text, status } = await org.soap(body);
    found.push([request, shapeDifferences(partOf(theirs.text, part), partOf(text, part))]);
    expect(status).toBe(theirs.status ?? 200);
    if (request.includes("ended")) expect(text).toContain("<faultcode>sf:INVALID_SESSION_ID</faultcode>");
  }

  expectStated(found);
});

test("an outbound message has the parts and namespaces of an org's, but for what is stated", async () => {
  const { org } = await openStandIn();
  const came = Promise.withResolvers<string>();
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    response.end(answerOf("outbound", "the acknowledgement that ends it").text);
    came.resolve(body);
  });
  const url = `http://127.0.0.1:${await listenForTest(server)}/ring`;
  await org.call("PUT", "/_sim/outbound", { messages: [{ object: "Account", url }] });
  await org.create("Account", { Name: "Rings" });

  const recordedOne = answerOf("outbound", "an outbound message with the fields of a custom object").text;
  const [theirs = [], ours = []] = [recordedOne, await came.promise].map((text) => partsOf(elementsIn(text)));

  const lacks = theirs.filter((name) => !ours.includes(name)).map((name) => name.split(":").at(-1) ?? "");
  expectStated([["an outbound message", lacking(lacks, [])]]);
});

/** All elements with their namespaces, but the record's own fields. */
const partsOf = ({ namespace, name, children }: XmlElement): readonly string[] =>
  [`${namespace}:${name}`, ...children.flatMap(partsOf)].filter((part) => !/__c$|sobject.*:Name$/.test(part));
