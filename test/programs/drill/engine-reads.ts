import { viewsAllRecords } from "../../../lib/model/mapping/soql.ts";
import { type Interview, type Made, save } from "./engine-saves.ts";

/** Queries alone and together, by URL and, where it is too long for one, in a body; counts and permissions. */
export async function readRecords({ tell, salesforce, mark, connection }: Interview): Promise<void> {
  const accounts = `SELECT Id, Name, AnnualRevenue, NumberOfEmployees, Description, Website, IsDeleted, MasterRecordId, SystemModstamp, CreatedById FROM Account WHERE Name LIKE '${mark}%'`;
  const contacts = `SELECT Id, LastName, Email, Birthdate, HasOptedOutOfEmail, AccountId, Account.Name, CreatedBy.Name FROM Contact WHERE LastName LIKE '${mark}%'`;
  await tell("query", () => salesforce.query(`${accounts} ORDER BY Name`));
  await tell("query with parents", () => salesforce.query(`${contacts} ORDER BY LastName`));
  await tell("query of one record", () => salesforce.query(`${accounts} ORDER BY Name LIMIT 1`));
  const never = Array.from({ length: 700 }, (_, at) => `'no such name ${at}'`).join(",");
  await tell("query too long for a URL", () =>
    salesforce.query(`${accounts} AND (NOT Name IN (${never})) ORDER BY Name`),
  );
  await tell("query of no field", () => salesforce.query("SELECT Bogus__c FROM Account"));
  await tell("query of no object", () => salesforce.query("SELECT Id FROM Bogus__c"));
  await tell("queries together", () =>
    salesforce.queryTogether([
      `${accounts} ORDER BY Name`,
      "SELECT Bogus__c FROM Account",
      `${contacts} ORDER BY LastName`,
      "SELECT Id FROM Account WHERE Name",
    ]),
  );
  await tell(
    "permission to view all",
    () => salesforce.queryTogether(viewsAllRecords("Account", connection.userId)),
    (answers) => answers.map((answer) => ("kind" in answer ? answer : { ...answer, records: [] })),
  );
  await tell("record count", () => salesforce.recordCount("Account"));
  await tell("record count of no object", () => salesforce.recordCount("Bogus__c"));
}

/** Deletes records, looks at them, and takes one of them back. */
export async function restore(interview: Interview, { contacts }: Made): Promise<void> {
  const { tell, salesforce } = interview;
  const records = contacts.map((id) => ({ id, values: {} }));
  const ids = contacts.map((id) => `'${id}'`).join(", ");
  const soql = `SELECT Id, LastName, IsDeleted FROM Contact WHERE Id IN (${ids || "''"}) ORDER BY LastName`;
  await save(interview, "delete", ["delete", "Contact"], records);
  await save(interview, "delete again", ["delete", "Contact"], records);
  const updates = records.map((record) => ({ ...record, values: { Title: "Boss" } }));
  await save(interview, "update of a deleted record", ["update", "Contact"], updates);
  await tell("query of deleted records", () => salesforce.query(soql));
  await save(interview, "undelete", ["undelete", "Contact"], records.slice(0, 1));
  await save(interview, "undelete of a living record", ["undelete", "Contact"], records.slice(0, 1));
  await tell("query of undeleted records", () => salesforce.query(soql));
}

const MINUTE = 60_000;

/** A replication lag of more than these steps of ten seconds is reported as it is: the delete is not listed. */
const LOOKS = 30;

/** getDeleted of a window that holds our deletes, once its minute is over; and of windows that are refused. */
export async function askForDeletes({ tell, salesforce, door }: Interview, { contacts }: Made): Promise<void> {
  const gone = contacts.slice(1);
  const now = await tell("query of the org's time", () => salesforce.query("SELECT Id FROM Account LIMIT 1"));
  if (now === null) return;
  const at = now.readAt;
  const from = new Date(at.getTime() - 10 * MINUTE);
  const look = async (until: Date) => {
    const found = await salesforce.deleted("Contact", from, until);
    return { ...found, records: found.records.filter(({ id }) => gone.includes(id)) };
  };
  await tell("deleted", async () => {
    let found = await look(at);
    for (let looks = 0; looks < LOOKS && found.records.length < gone.length; looks++) {
      await door.pass(10_000);
      found = await look(found.readAt);
    }
    return found;
  });
  await tell("deleted and queried together", async () => {
    const { pages, deleted } = await salesforce.askTogether(
      ["SELECT Id FROM Account LIMIT 1", "SELECT Bogus__c FROM Account"],
      [
        { object: "Contact", from, until: at },
        { object: "Contact", from: at, until: from },
      ],
    );
    // What others have deleted in a real org is not compared.
    return [...pages, ...deleted].map((answer) => ("kind" in answer ? answer : { ...answer, records: [] }));
  });
  await tell("deleted, of a window that ends before it begins", () => salesforce.deleted("Contact", at, from));
  const longAgo = new Date(at.getTime() - 60 * 24 * 60 * MINUTE);
  await tell("deleted, of a window too long ago", () => salesforce.deleted("Contact", longAgo, at));
  await tell("deleted, of no object", () => salesforce.deleted("Bogus__c", from, at));
}
