import { ask, type Door, MARK, type Request, type Seen } from "./door.ts";

/** One thing that is asked of both orgs; `id` gives the id from the answer of an earlier step. */
interface Step {
  readonly name: string;
  readonly request: (id: (step: string) => string) => Request;
}

const BASE = "/services/data/v62.0";
const get = (name: string, path: string | ((id: (step: string) => string) => string)): Step => ({
  name,
  request: (id) => ({ method: "GET", path: `${BASE}/${typeof path === "string" ? path : path(id)}` }),
});
const query = (name: string, soql: string): Step => get(name, `query?q=${encodeURIComponent(soql)}`);
const send = (
  name: string,
  method: string,
  path: (id: (step: string) => string) => string,
  body?: (id: (step: string) => string) => unknown,
): Step => ({
  name,
  request: (id) => ({ method, path: `${BASE}/${path(id)}`, ...(body ? { body: body(id) } : {}) }),
});
const soap = (name: string, inner: (id: (step: string) => string) => string, headers = ""): Step => ({
  name,
  request: (id) => ({
    method: "POST",
    path: "/services/Soap/u/62.0",
    soap: `<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/"><se:Header><SessionHeader xmlns="urn:partner.soap.sforce.com"><sessionId>@session</sessionId></SessionHeader>${headers}</se:Header><se:Body>${inner(id)}</se:Body></se:Envelope>`,
  }),
});
const minutesAgo = (minutes: number) =>
  encodeURIComponent(`${new Date(Date.now() - minutes * 60_000).toISOString().slice(0, 19)}+00:00`);
const NAME = `${MARK} by hand`;
const XMLNS = 'xmlns="urn:partner.soap.sforce.com"';

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
const SEQUENCE: readonly Step[] = [
  get("resources", ""),
  get("limits", "limits"),
  get("describeGlobal", "sobjects"),
  get("describe Account", "sobjects/Account/describe"),
  get("describe Contact", "sobjects/Contact/describe"),
  send(
    "create account",
    "POST",
    () => "sobjects/Account",
    () => ({ Name: NAME }),
  ),
  send(
    "create contact",
    "POST",
    () => "sobjects/Contact",
    (id) => ({ LastName: NAME, AccountId: id("create account") }),
  ),
  send(
    "create without a required field",
    "POST",
    () => "sobjects/Contact",
    () => ({ FirstName: NAME }),
  ),
  send(
    "create with a bad e-mail address",
    "POST",
    () => "sobjects/Contact",
    () => ({ LastName: NAME, Email: "nope" }),
  ),
  send(
    "create with an unknown field",
    "POST",
    () => "sobjects/Contact",
    () => ({ LastName: NAME, Bogus__c: 1 }),
  ),
  send(
    "create with too long a text",
    "POST",
    () => "sobjects/Contact",
    () => ({ LastName: "x".repeat(81) }),
  ),
  send(
    "create with a parent of the wrong type",
    "POST",
    () => "sobjects/Contact",
    (id) => ({ LastName: NAME, AccountId: id("create contact") }),
  ),
  send(
    "create with a number that is none",
    "POST",
    () => "sobjects/Account",
    () => ({ Name: NAME, AnnualRevenue: "many" }),
  ),
  send(
    "create with a read-only field",
    "POST",
    () => "sobjects/Contact",
    () => ({ LastName: NAME, IsDeleted: true }),
  ),
  get("read", (id) => `sobjects/Contact/${id("create contact")}?fields=Id,Name,Email,CreatedDate,AccountId`),
  get("read an unknown record", () => "sobjects/Contact/003000000000000AAA"),
  send(
    "update",
    "PATCH",
    (id) => `sobjects/Contact/${id("create contact")}`,
    () => ({ Title: "Boss" }),
  ),
  query(
    "query with parent",
    `SELECT Id, Name, Account.Name, Account.Owner.Name FROM Contact WHERE LastName = '${NAME}'`,
  ),
  query("query with children", `SELECT Id, (SELECT Id FROM Contacts) FROM Account WHERE Name = '${NAME}'`),
  query("count", "SELECT COUNT() FROM Contact"),
  query("group", "SELECT AccountId, COUNT(Id) FROM Contact GROUP BY AccountId LIMIT 1"),
  query("unknown field", "SELECT Id, Bogus__c FROM Account"),
  query("unknown object", "SELECT Id FROM Bogus"),
  query("AND mixed with OR", "SELECT Id FROM Account WHERE Name = 'a' AND Name = 'b' OR Name = 'c'"),
  query("filter on a long text", "SELECT Id FROM Account WHERE Description = 'x'"),
  query("wrong type of literal", "SELECT Id FROM Account WHERE AnnualRevenue = '5'"),
  query("no such token", "SELECT Id Frm Account"),
  get("bad locator", "query/01g000000000000AAA-2000"),
  send(
    "collection with one bad record",
    "POST",
    () => "composite/sobjects",
    () => ({ allOrNone: false, records: [{ attributes: { type: "Contact" } }] }),
  ),
  send(
    "composite",
    "POST",
    () => "composite",
    () => ({
      compositeRequest: [{ method: "GET", url: `${BASE}/query/?q=SELECT+Id+FROM+Account+LIMIT+1`, referenceId: "a" }],
    }),
  ),
  get("updated", () => `sobjects/Account/updated/?start=${minutesAgo(10)}&end=${minutesAgo(0)}`),
  get("deleted", () => `sobjects/Account/deleted/?start=${minutesAgo(10)}&end=${minutesAgo(0)}`),
  get("deleted, backwards", () => `sobjects/Account/deleted/?start=${minutesAgo(0)}&end=${minutesAgo(10)}`),
  soap(
    "SOAP create",
    () =>
      `<create ${XMLNS}><sObjects><type>Contact</type><LastName>${NAME}</LastName></sObjects><sObjects><type>Contact</type></sObjects></create>`,
  ),
  soap(
    "SOAP create with every save header",
    () => `<create ${XMLNS}><sObjects><type>Contact</type><LastName>${NAME}</LastName></sObjects></create>`,
    SAVE_HEADERS,
  ),
  soap(
    "SOAP unknown field",
    () =>
      `<create ${XMLNS}><sObjects><type>Contact</type><LastName>${NAME}</LastName><Bogus__c>1</Bogus__c></sObjects></create>`,
  ),
  send("delete", "DELETE", (id) => `sobjects/Account/${id("create account")}`),
  send(
    "update a deleted record",
    "PATCH",
    (id) => `sobjects/Account/${id("create account")}`,
    () => ({ Name: NAME }),
  ),
  get("bulk job list", "jobs/query"),
];

/** The answers of one org to all steps; later steps use ids from earlier answers. */
export async function runSequence(door: Door): Promise<ReadonlyMap<string, Seen>> {
  const seen = new Map<string, Seen>();
  for (const { name, request } of SEQUENCE)
    seen.set(
      name,
      await ask(
        door,
        request((step) => idIn(seen.get(step))),
      ),
    );
  return seen;
}

function idIn(seen: Seen | undefined): string {
  const body = seen?.body;
  return typeof body === "object" && body !== null && "id" in body ? String(body.id) : "000000000000000AAA";
}
