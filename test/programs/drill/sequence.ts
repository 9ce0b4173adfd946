import { ask, type Door, MARK, type Request, type Seen } from "./door.ts";

/** The id in the answer of an earlier step. */
type IdOf = (step: string) => string;

/** What a step asks: by REST, or with an envelope's body and further headers by SOAP. */
type Asked =
  | readonly [method: string, path: string, body?: unknown]
  | { readonly soap: string; readonly headers?: string };

const BASE = "/services/data/v62.0";
const query = (soql: string): Asked => ["GET", `query?q=${encodeURIComponent(soql)}`];

function requestOf(asked: Asked): Request {
  if (!("soap" in asked)) {
    const [method, path, body] = asked;
    return { method, path: `${BASE}/${path}`, ...(body !== undefined && { body }) };
  }
  const { soap, headers = "" } = asked;
  return {
    method: "POST",
    path: "/services/Soap/u/62.0",
    soap: `<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/"><se:Header><SessionHeader xmlns="urn:partner.soap.sforce.com"><sessionId>@session</sessionId></SessionHeader>${headers}</se:Header><se:Body>${soap}</se:Body></se:Envelope>`,
  };
}

const minutesAgo = (minutes: number) =>
  encodeURIComponent(`${new Date(Date.now() - minutes * 60_000).toISOString().slice(0, 19)}+00:00`);
const NAME = `${MARK} by hand`;
const XMLNS = 'xmlns="urn:partner.soap.sforce.com"';
const contacts = (...inner: readonly string[]) =>
  `<create ${XMLNS}>${inner.map((fields) => `<sObjects><type>Contact</type>${fields}</sObjects>`).join("")}</create>`;
const NAMED = `<LastName>${NAME}</LastName>`;

/** Each save header that an org may be asked to obey, in the order of the WSDL. */
const SAVE_HEADERS = [
  "<CallOptions><client>bridge</client></CallOptions>",
  "<AllOrNoneHeader><allOrNone>false</allOrNone></AllOrNoneHeader>",
  "<AllowFieldTruncationHeader><allowFieldTruncation>false</allowFieldTruncation></AllowFieldTruncationHeader>",
  "<AssignmentRuleHeader><useDefaultRule>true</useDefaultRule></AssignmentRuleHeader>",
  "<DuplicateRuleHeader><allowSave>true</allowSave></DuplicateRuleHeader>",
]
  .map((header) => header.replace(">", ` ${XMLNS}>`))
  .join("");

/** What is asked of both orgs, in order. What it creates is named `NAME`, and deleted by the caller. */
const SEQUENCE: Readonly<Record<string, (id: IdOf) => Asked>> = {
  resources: () => ["GET", ""],
  limits: () => ["GET", "limits"],
  describeGlobal: () => ["GET", "sobjects"],
  "describe Account": () => ["GET", "sobjects/Account/describe"],
  "describe Contact": () => ["GET", "sobjects/Contact/describe"],
  "create account": () => ["POST", "sobjects/Account", { Name: NAME }],
  "create contact": (id) => ["POST", "sobjects/Contact", { LastName: NAME, AccountId: id("create account") }],
  "create without a required field": () => ["POST", "sobjects/Contact", { FirstName: NAME }],
  "create with a bad e-mail address": () => ["POST", "sobjects/Contact", { LastName: NAME, Email: "nope" }],
  "create with an unknown field": () => ["POST", "sobjects/Contact", { LastName: NAME, Bogus__c: 1 }],
  "create with too long a text": () => ["POST", "sobjects/Contact", { LastName: "x".repeat(81) }],
  "create with a parent of the wrong type": (id) => [
    ...(["POST", "sobjects/Contact"] as const),
    { LastName: NAME, AccountId: id("create contact") },
  ],
  "create with a number that is none": () => ["POST", "sobjects/Account", { Name: NAME, AnnualRevenue: "many" }],
  "create with a read-only field": () => ["POST", "sobjects/Contact", { LastName: NAME, IsDeleted: true }],
  read: (id) => ["GET", `sobjects/Contact/${id("create contact")}?fields=Id,Name,Email,CreatedDate,AccountId`],
  "read an unknown record": () => ["GET", "sobjects/Contact/003000000000000AAA"],
  update: (id) => ["PATCH", `sobjects/Contact/${id("create contact")}`, { Title: "Boss" }],
  "query with parent": () =>
    query(`SELECT Id, Name, Account.Name, Account.Owner.Name FROM Contact WHERE LastName = '${NAME}'`),
  "query with children": () => query(`SELECT Id, (SELECT Id FROM Contacts) FROM Account WHERE Name = '${NAME}'`),
  count: () => query("SELECT COUNT() FROM Contact"),
  group: () => query("SELECT AccountId, COUNT(Id) FROM Contact GROUP BY AccountId LIMIT 1"),
  "unknown field": () => query("SELECT Id, Bogus__c FROM Account"),
  "unknown object": () => query("SELECT Id FROM Bogus"),
  "AND mixed with OR": () => query("SELECT Id FROM Account WHERE Name = 'a' AND Name = 'b' OR Name = 'c'"),
  "filter on a long text": () => query("SELECT Id FROM Account WHERE Description = 'x'"),
  "wrong type of literal": () => query("SELECT Id FROM Account WHERE AnnualRevenue = '5'"),
  "no such token": () => query("SELECT Id Frm Account"),
  "bad locator": () => ["GET", "query/01g000000000000AAA-2000"],
  "collection with one bad record": () => [
    ...(["POST", "composite/sobjects"] as const),
    { allOrNone: false, records: [{ attributes: { type: "Contact" } }] },
  ],
  composite: () => [
    ...(["POST", "composite"] as const),
    { compositeRequest: [{ method: "GET", url: `${BASE}/query/?q=SELECT+Id+FROM+Account+LIMIT+1`, referenceId: "a" }] },
  ],
  updated: () => ["GET", `sobjects/Account/updated/?start=${minutesAgo(10)}&end=${minutesAgo(0)}`],
  deleted: () => ["GET", `sobjects/Account/deleted/?start=${minutesAgo(10)}&end=${minutesAgo(0)}`],
  "deleted, backwards": () => ["GET", `sobjects/Account/deleted/?start=${minutesAgo(0)}&end=${minutesAgo(10)}`],
  "SOAP create": () => ({ soap: contacts(NAMED, "") }),
  "SOAP create with every save header": () => ({ soap: contacts(NAMED), headers: SAVE_HEADERS }),
  "SOAP unknown field": () => ({ soap: contacts(`${NAMED}<Bogus__c>1</Bogus__c>`) }),
  delete: (id) => ["DELETE", `sobjects/Account/${id("create account")}`],
  "update a deleted record": (id) => ["PATCH", `sobjects/Account/${id("create account")}`, { Name: NAME }],
  "bulk job list": () => ["GET", "jobs/query"],
};

/** The answers of one org to all steps; later steps use ids from earlier answers. */
export async function runSequence(door: Door): Promise<ReadonlyMap<string, Seen>> {
  const seen = new Map<string, Seen>();
  for (const [name, asked] of Object.entries(SEQUENCE))
    seen.set(name, await ask(door, requestOf(asked((step) => idIn(seen.get(step))))));
  return seen;
}

function idIn(seen: Seen | undefined): string {
  const body = seen?.body;
  return typeof body === "object" && body !== null && "id" in body ? String(body.id) : "000000000000000AAA";
}
