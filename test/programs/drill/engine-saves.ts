import type { OutgoingRecord } from "../../../lib/model/record/record.ts";
import type { Interview } from "./interview.ts";

/** The ids of what was created, as far as it was. */
export interface Made {
  readonly accounts: readonly string[];
  readonly contacts: readonly string[];
}

/** What breaks XML and CSV, and what a database may cut or turn round. */
const HARD_TEXT = 'a "quote" & <tag>,\nanother line; ünïcödé 🎈 \\ end';

const create = (values: OutgoingRecord["values"]): OutgoingRecord => ({ id: null, values });

/** Every operation by SOAP: with nulls, by an external id, below a parent that only its external id names. */
export async function saveBySoap(interview: Interview): Promise<Made> {
  const { tell, salesforce, mark } = interview;
  const created = await tell("create, one of them refused", () =>
    salesforce.write(
      "create",
      "Account",
      [
        create({ Name: `${mark} A`, AnnualRevenue: "1234567.5", NumberOfEmployees: "5", Description: HARD_TEXT }),
        create({ Name: null, Description: "nameless" }),
        create({ Name: `${mark} B`, Website: "https://example.com/?a=1&b=2" }),
      ],
      null,
    ),
  );
  const accounts = idsOf(created);
  await tell("update with nulls", () =>
    salesforce.write(
      "update",
      "Account",
      [
        { id: accounts[0] ?? "", values: { Description: null, NumberOfEmployees: "7" } },
        { id: accounts[1] ?? "", values: { AnnualRevenue: "many" } },
      ],
      null,
    ),
  );
  await tell("update of a record that is not there", () =>
    salesforce.write("update", "Account", [{ id: "001000000000000AAA", values: { Name: mark } }], null),
  );
  await tell("create of an object that is not there", () =>
    salesforce.write("create", "Bogus__c", [create({ Name: mark })], null),
  );
  const contacts = await tell("create below a parent by its id", () =>
    salesforce.write(
      "create",
      "Contact",
      [
        create({
          LastName: `${mark} C`,
          AccountId: accounts[0] ?? "",
          Birthdate: "1990-02-28",
          Email: "c@example.com",
        }),
        create({ LastName: `${mark} D`, HasOptedOutOfEmail: "true" }),
        create({ LastName: `${mark} E`, Email: "nope" }),
      ],
      null,
    ),
  );
  const upserted = await upsert(interview);
  return { accounts: [...accounts, ...upserted], contacts: idsOf(contacts) };
}

/** Twice the same, so that the second one finds the first; then a child that knows the parent's external id alone. */
async function upsert({ tell, salesforce, mark, key }: Interview): Promise<readonly string[]> {
  if (key === null) return [];
  const records = [create({ [key]: `${mark} K`, Name: `${mark} K`, Description: null })];
  const first = await tell("upsert that creates", () => salesforce.write("upsert", "Account", records, key));
  await tell("upsert that updates", () => salesforce.write("upsert", "Account", records, key));
  await tell("upsert of one key twice", () => salesforce.write("upsert", "Account", [...records, ...records], key));
  const below = (value: string): OutgoingRecord => ({
    id: null,
    values: { LastName: `${mark} N` },
    parents: [{ reference: "AccountId", relationship: "Account", object: "Account", field: key, value }],
  });
  await tell("create below a parent by its external id", () =>
    salesforce.write("create", "Contact", [below(`${mark} K`), below(`${mark} stranger`)], null),
  );
  return idsOf(first);
}

type Written = Awaited<ReturnType<Interview["salesforce"]["write"]>> | null;

const idsOf = (written: Written): readonly string[] =>
  (written?.results ?? []).flatMap(({ id, success }) => (success && id !== null ? [id] : []));
