import type { Operation, OutgoingRecord } from "../../../lib/model/record/record.ts";
import type { SalesforceConnection } from "../../../lib/model/workspace/workspace.ts";
import type { Salesforce } from "../../../lib/sync/ports/cycle-ports.ts";
import type { Door } from "./door.ts";

/** The engine's client of one org, and its answers. */
export interface Interview {
  readonly door: Door;
  readonly salesforce: Salesforce;
  readonly connection: SalesforceConnection;
  /** In the name of every record that it makes, the same for all orgs. */
  readonly mark: string;
  /** The external id by which accounts are found, `External_Id__c`; null: the org has none. */
  readonly key: string | null;
  /** Keeps what a call came to, as `shown` shows it, under a name; null where it was refused. */
  tell<Answer>(name: string, work: () => Promise<Answer>, shown?: (answer: Answer) => unknown): Promise<Answer | null>;
}

/** The ids of what was created, as far as it was. */
export interface Made {
  readonly accounts: readonly string[];
  readonly contacts: readonly string[];
}

/** What breaks XML and CSV, and what a database may cut or turn round. */
const HARD_TEXT = 'a "quote" & <tag>,\nanother line; ünïcödé 🎈 \\ end';

type Values = OutgoingRecord["values"];
const create = (values: Values): OutgoingRecord => ({ id: null, values });

/** Saves records by SOAP, and gives the ids of those that were saved. */
export async function save(
  { tell, salesforce }: Interview,
  name: string,
  [operation, object, key = null]: readonly [Operation, string, (string | null)?],
  records: readonly OutgoingRecord[],
): Promise<readonly string[]> {
  const written = await tell(name, () => salesforce.write(operation, object, records, key));
  return (written?.results ?? []).flatMap(({ id, success }) => (success && id !== null ? [id] : []));
}

/** Every operation by SOAP: with nulls, by an external id, below a parent that only its external id names. */
export async function saveBySoap(interview: Interview): Promise<Made> {
  const { mark } = interview;
  const accounts = await save(
    interview,
    "create, one of them refused",
    ["create", "Account"],
    [
      create({ Name: `${mark} A`, AnnualRevenue: "1234567.5", NumberOfEmployees: "5", Description: HARD_TEXT }),
      create({ Name: null, Description: "nameless" }),
      create({ Name: `${mark} B`, Website: "https://example.com/?a=1&b=2" }),
    ],
  );
  await save(
    interview,
    "update with nulls",
    ["update", "Account"],
    [
      { id: accounts[0] ?? "", values: { Description: null, NumberOfEmployees: "7" } },
      { id: accounts[1] ?? "", values: { AnnualRevenue: "many" } },
    ],
  );
  const nobody = [{ id: "001000000000000AAA", values: { Name: mark } }];
  await save(interview, "update of a record that is not there", ["update", "Account"], nobody);
  await save(interview, "create of an object that is not there", ["create", "Bogus__c"], [create({ Name: mark })]);
  const below = { AccountId: accounts[0] ?? "", Birthdate: "1990-02-28", Email: "c@example.com" };
  const contacts = await save(
    interview,
    "create below a parent by its id",
    ["create", "Contact"],
    [
      create({ LastName: `${mark} C`, ...below }),
      create({ LastName: `${mark} D`, HasOptedOutOfEmail: "true" }),
      create({ LastName: `${mark} E`, Email: "nope" }),
    ],
  );
  const upserted = await upsert(interview);
  return { accounts: [...accounts, ...upserted], contacts };
}

/** Twice the same, so that the second one finds the first; then a child that knows the parent's external id alone. */
async function upsert(interview: Interview): Promise<readonly string[]> {
  const { mark, key } = interview;
  if (key === null) return [];
  const records = [create({ [key]: `${mark} K`, Name: `${mark} K`, Description: null })];
  const made = await save(interview, "upsert that creates", ["upsert", "Account", key], records);
  await save(interview, "upsert that updates", ["upsert", "Account", key], records);
  await save(interview, "upsert of one key twice", ["upsert", "Account", key], [...records, ...records]);
  const parent = { reference: "AccountId", relationship: "Account", object: "Account", field: key };
  const children = [`${mark} K`, `${mark} stranger`].map((value) => ({
    ...{ id: null, values: { LastName: `${mark} N` }, parents: [{ ...parent, value }] },
  }));
  await save(interview, "create below a parent by its external id", ["create", "Contact"], children);
  return made;
}
