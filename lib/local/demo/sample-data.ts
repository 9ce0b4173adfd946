import type { Client } from "pg";
import type { Org } from "../org/start-org.ts";

/** Half of it is created in Salesforce and half in PostgreSQL, so that the first cycles carry rows both ways. */
const ACCOUNTS = 40;
const CONTACTS = 160;

const FIRST = ["Ada", "Grace", "Alan", "Emmy", "Edsger", "Barbara", "Donald", "Katherine", "Tony", "Frances"];
const LAST = ["Lovelace", "Hopper", "Turing", "Noether", "Dijkstra", "Liskov", "Knuth", "Johnson", "Hoare", "Allen"];
const COMPANY = ["Acme", "Globex", "Initech", "Umbrella", "Soylent", "Hooli", "Vandelay", "Stark", "Wayne", "Wonka"];
const CITY = ["Berlin", "Lyon", "Oslo", "Porto", "Turin", "Vienna", "Ghent", "Bristol"];
const TITLE = ["Engineer", "Buyer", "Director", "Analyst"];

/** The upsert fields of Salesforce's half: 1 to 20 and 1 to 80; the rest is created in PostgreSQL. */
export const accountKey = (number: number): string => `demo-account-${number}`;
export const contactKey = (number: number): string => `demo-contact-${number}`;
export const IN_SALESFORCE = { accounts: ACCOUNTS / 2, contacts: CONTACTS / 2 } as const;

/** The contact that Salesforce refuses, for its email is none. */
const REFUSED_KEY = contactKey(CONTACTS);

/** Makes the org's half; records that are there stay one. Throws when the org refuses one. */
export async function fillOrg(org: Pick<Org, "url" | "accessToken">): Promise<void> {
  const accounts = numbers(1, IN_SALESFORCE.accounts).map((number) => ({
    attributes: { type: "Account" },
    External_Id__c: accountKey(number),
    ...account(number),
  }));
  const contacts = numbers(1, IN_SALESFORCE.contacts).map((number) => ({
    attributes: { type: "Contact" },
    External_Id__c: contactKey(number),
    ...contact(number),
    Account: { External_Id__c: accountKey((number % IN_SALESFORCE.accounts) + 1) },
  }));
  await upsert(org, "Account", accounts);
  await upsert(org, "Contact", contacts);
}

async function upsert(
  { url, accessToken }: Pick<Org, "url" | "accessToken">,
  object: string,
  records: readonly object[],
): Promise<void> {
  const answer = await fetch(`${url}/services/data/v68.0/composite/sobjects/${object}/External_Id__c`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
    body: JSON.stringify({ allOrNone: true, records }),
  });
  const saved = (await answer.json()) as readonly { readonly success?: boolean }[];
  if (!answer.ok || !saved.every(({ success }) => success))
    throw new Error(`the sample ${object}s could not be created: ${JSON.stringify(saved).slice(0, 500)}`);
}

/** Makes the database's half, as an application would, with one contact that Salesforce will refuse; rows that are there stay. */
export async function fillDatabase(client: Client): Promise<void> {
  const accounts = numbers(IN_SALESFORCE.accounts + 1, ACCOUNTS).map((number) => {
    const { Name, BillingCity, Phone } = account(number);
    return { external_id__c: accountKey(number), name: Name, billingcity: BillingCity, phone: Phone };
  });
  const contacts = numbers(IN_SALESFORCE.contacts + 1, CONTACTS).map((number) => {
    const { FirstName, LastName, Email, Title } = contact(number);
    const key = contactKey(number);
    const email = key === REFUSED_KEY ? "ada at example.com" : Email;
    return { external_id__c: key, firstname: FirstName, lastname: LastName, email, title: Title };
  });
  await insertMissing(client, "account", accounts);
  await insertMissing(client, "contact", contacts);
}

async function insertMissing(client: Client, table: string, rows: readonly Record<string, string>[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {}).join(", ");
  await client.query(
    `INSERT INTO salesforce.${table} (${columns})
     SELECT ${columns} FROM jsonb_populate_recordset(NULL::salesforce.${table}, $1)
     WHERE external_id__c NOT IN (SELECT external_id__c FROM salesforce.${table} WHERE external_id__c IS NOT NULL)`,
    [JSON.stringify(rows)],
  );
}

function account(number: number) {
  const series = Math.ceil(number / COMPANY.length);
  return {
    Name: `${of(COMPANY, number)} ${["Ltd", "Labs", "Foods", "Trading"][series - 1] ?? series}`,
    BillingCity: of(CITY, number),
    Phone: `+44 20 7946 ${String(number).padStart(4, "0")}`,
  };
}

function contact(number: number) {
  const [FirstName, LastName] = [of(FIRST, number), of(LAST, number + Math.floor(number / FIRST.length))];
  const Email = `${FirstName}.${LastName}.${number}@example.com`.toLowerCase();
  return { FirstName, LastName, Email, Title: of(TITLE, number) };
}

const of = (words: readonly string[], number: number): string => words[number % words.length] ?? "";

const numbers = (first: number, last: number): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);
