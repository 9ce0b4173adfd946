import type { StandIn, StandInAnswer } from "./embedded-org.ts";

/** How the stand-in is asked for what a recorded answer, of this kind and name, was given to. */
type Asked = readonly [request: string, kind: string, name: string, ask: (standIn: StandIn) => Promise<StandInAnswer>];

const COLLECTION = "composite/sobjects";
const account = (more: object) => ({ attributes: { type: "Account" }, ...more });
const contact = (more: object) => ({ attributes: { type: "Contact" }, ...more });
const collection = (allOrNone: boolean, records: readonly object[]) => ({ allOrNone, records });

/** A moment so many minutes from now. */
const at = (minutes: number) =>
  encodeURIComponent(`${new Date(Date.now() + minutes * 60_000).toISOString().slice(0, 19)}+00:00`);

const READS: readonly Asked[] = [
  ["GET /services/data", "sign-in", "the versions of an org of 2026", ({ org }) => org.get("/services/data")],
  ["GET sobjects", "counts", "objects: the first four of 110", ({ org }) => org.get("sobjects")],
  ["GET query", "queries", "six accounts, printed with spaces", ({ org }) => org.query("SELECT Id, Name FROM Account")],
  ["GET query of no record", "queries", "no record, compact", ({ org }) => org.query("SELECT Id FROM Lead")],
  [
    "GET query of a count",
    "queries",
    "a count with an expression",
    ({ org }) => org.query("SELECT COUNT(Id) FROM Account"),
  ],
  [
    "GET query of an unknown object",
    "refusals",
    "an unknown object, with a window of the query",
    ({ org }) => org.query("SELECT Id FROM Accout"),
  ],
  [
    "GET query with an id that is none",
    "refusals",
    "an id that is none, with three lines of context",
    ({ org }) => org.query("SELECT Id FROM Contact WHERE Id = 'somethingwonky'"),
  ],
  [
    "GET with a session that has ended",
    "refusals",
    "a session that has ended",
    ({ org }) => org.call("GET", "limits", undefined, { Authorization: "Bearer 00Dx!no" }),
  ],
  [
    "GET describe of an unknown object",
    "refusals",
    "a describe of an object that is not there",
    ({ org }) => org.get("sobjects/Whizbang/describe"),
  ],
  [
    "GET limits/recordCount",
    "counts",
    "recordCount: three, though ten are there",
    ({ org }) => org.get("limits/recordCount?sObjects=Account"),
  ],
  [
    "GET limits/recordCount of an object without records",
    "counts",
    "recordCount: nothing of an object without records",
    ({ org }) => org.get("limits/recordCount?sObjects=Opportunity"),
  ],
  [
    "GET deleted",
    "counts",
    "getDeleted: one",
    ({ org }) => org.get(`sobjects/Account/deleted/?start=${at(-2)}&end=${at(2)}`),
  ],
  ["GET userinfo", "sign-in", "the connected user", ({ org }) => org.get("/services/oauth2/userinfo")],
  [
    "POST composite with an unknown resource",
    "queries",
    "a composite of a resource that is not there",
    ({ org }) =>
      org.call("POST", "composite", {
        compositeRequest: [{ referenceId: "r", method: "GET", url: `${org.base}/sobjects/Foo` }],
      }),
  ],
  [
    "POST token with a wrong password",
    "sign-in",
    "a refused login",
    ({ org: { org } }) =>
      token(org.url, {
        client_id: org.clientId,
        client_secret: org.clientSecret,
        username: org.username,
        password: "no",
      }),
  ],
  [
    "POST token with an unknown consumer key",
    "sign-in",
    "an unknown consumer key",
    ({ org: { org } }) =>
      token(org.url, { client_id: "no", client_secret: "no", username: org.username, password: org.password }),
  ],
];

const SAVES: readonly Asked[] = [
  ["POST a record", "rest-saves", "a record, made", ({ org }) => org.call("POST", "sobjects/Account", { Name: "New" })],
  [
    "POST a record with an unknown field",
    "refusals",
    "an unknown field",
    ({ org }) => org.call("POST", "sobjects/Account", { Name: "New", AccountNumer: "1" }),
  ],
  [
    "POST a collection",
    "rest-saves",
    "a collection, made",
    ({ org }) => org.call("POST", COLLECTION, collection(false, [account({ Name: "New" })])),
  ],
  [
    "POST a collection of no records",
    "refusals",
    "a collection of no records",
    ({ org }) => org.call("POST", COLLECTION, collection(false, [])),
  ],
  [
    "POST a collection that is saved whole",
    "rest-saves",
    "a collection that is saved whole or not at all",
    ({ org }) =>
      org.call("POST", COLLECTION, collection(true, [contact({ FirstName: "A" }), contact({ LastName: "B" })])),
  ],
  [
    "PATCH a collection of updates without ids",
    "rest-saves",
    "a collection of updates without ids",
    ({ org }) => org.call("PATCH", COLLECTION, collection(false, [account({ Name: "A" }), account({ Name: "B" })])),
  ],
  [
    "PATCH a collection with an unknown field",
    "rest-saves",
    "a collection with an unknown field",
    ({ org, accountId: id }) =>
      org.call("PATCH", COLLECTION, collection(true, [account({ id, Name: "A" }), account({ id, unknownField: "B" })])),
  ],
  [
    "PATCH a record that is new, by its key",
    "rest-saves",
    "a record, made by its key",
    ({ org }) => org.call("PATCH", "sobjects/Account/External_Id__c/k1", { Name: "Keyed" }),
  ],
  [
    "DELETE a record that is deleted",
    "refusals",
    "a record that is deleted",
    ({ org, deletedId }) => org.call("DELETE", `sobjects/Account/${deletedId}`),
  ],
];

export const REST_REQUESTS = [...READS, ...SAVES];

async function token(url: string, grant: Readonly<Record<string, string>>): Promise<StandInAnswer> {
  const body = new URLSearchParams({ grant_type: "password", ...grant });
  const response = await fetch(`${url}/services/oauth2/token`, { method: "POST", body });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as StandInAnswer["json"] };
}
