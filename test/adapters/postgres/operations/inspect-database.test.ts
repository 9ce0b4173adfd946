import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { databases } from "../../../../lib/adapters/postgres/operations/inspect-database.ts";
import { judgeDatabase } from "../../../../lib/settings/judge-database.ts";
import { type Customer, createCustomer } from "../customer.ts";

let customer: Customer;
/** Another role of the server. */
let neighbour: string;
beforeEach(async () => {
  customer = await createCustomer();
  neighbour = `neighbour_of_${new URL(customer.url).pathname.slice(1)}`;
  await customer.asSuperuser(`CREATE ROLE ${neighbour}`);
  await customer.sql(
    `CREATE FUNCTION salesforce.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
  );
});
afterEach(async () => {
  await customer.asSuperuser(`DROP OWNED BY ${neighbour}; DROP ROLE ${neighbour}`);
  await customer.close();
});

/** What `bridge doctor` says of one of the database's checks. */
async function findings(check: string, url = customer.url) {
  const facts = await databases.look({ url, schema: "salesforce" });
  return judgeDatabase(facts, "salesforce", "w_1").filter((finding) => finding.check === check);
}

describe("what may undo Bridge's own writes is named", () => {
  test.each([
    ["a trigger before each row", "_bridge_outbox", "BEFORE DELETE ON % FOR EACH ROW"],
    ["a trigger before a statement", "_trigger_log", "BEFORE INSERT ON % FOR EACH STATEMENT"],
    ["one before several events", "_bridge_state", "BEFORE INSERT OR UPDATE ON % FOR EACH ROW"],
  ])("%s, on %s", async (_, table, when) => {
    await customer.sql(
      `CREATE TRIGGER undo ${when.replace("%", `salesforce.${table}`)} EXECUTE FUNCTION salesforce.nothing()`,
    );
    expect(await findings("writes")).toEqual([
      {
        check: "writes",
        ok: false,
        message: `undo on ${table}, one of Bridge's tables, may undo Bridge's writes`,
        remedy: "drop it, or make it an AFTER trigger",
      },
    ]);
  });

  test("a rule", async () => {
    await customer.sql("CREATE RULE silent AS ON UPDATE TO salesforce._bridge_state DO INSTEAD NOTHING");
    expect(await findings("writes")).toMatchObject([
      { ok: false, message: expect.stringContaining("silent on _bridge_state") },
    ]);
  });

  test.each([
    ["Bridge's own triggers, and none of the application", ""],
    ["a trigger after each row", "AFTER DELETE ON salesforce._bridge_outbox FOR EACH ROW"],
    ["a trigger of a table that is not Bridge's", "BEFORE DELETE ON salesforce.contact FOR EACH ROW"],
  ])("not: %s", async (_, when) => {
    if (when) await customer.sql(`CREATE TRIGGER undo ${when} EXECUTE FUNCTION salesforce.nothing()`);
    expect(await findings("writes")).toEqual([]);
  });
});

describe("schemas of the search path in which others may create are named", () => {
  /** PostgreSQL 15 and later grant none of it. */
  beforeEach(() => customer.asSuperuser("REVOKE CREATE ON SCHEMA public FROM PUBLIC"));

  test.each([
    ["every role", "GRANT CREATE ON SCHEMA public TO PUBLIC"],
    ["another role", "GRANT CREATE ON SCHEMA public TO %"],
  ])("%s", async (_, grant) => {
    await customer.asSuperuser(grant.replace("%", neighbour));
    expect(await findings("search_path")).toEqual([
      {
        check: "search_path",
        ok: true,
        message: expect.stringContaining("other roles may create functions and operators in public"),
        remedy: expect.stringContaining('REVOKE CREATE ON SCHEMA "public" FROM PUBLIC'),
      },
    ]);
  });

  test.each([
    ["no other role", "SELECT 1"],
    ["its owner and Bridge's role alone", "GRANT CREATE ON SCHEMA public TO OWN"],
    ["others, in a schema outside of the search path", "CREATE SCHEMA theirs; GRANT CREATE ON SCHEMA theirs TO PUBLIC"],
    ["others, who may use it only", "GRANT USAGE ON SCHEMA public TO %"],
  ])("not: %s", async (_, grant) => {
    await customer.asSuperuser(grant.replace("OWN", new URL(customer.url).username).replace("%", neighbour));
    expect(await findings("search_path")).toEqual([]);
  });

  test("another schema that the role's own search path names", async () => {
    const role = new URL(customer.url).username;
    await customer.asSuperuser(`CREATE SCHEMA shop; GRANT USAGE ON SCHEMA shop TO ${role};
      GRANT CREATE ON SCHEMA shop TO ${neighbour}; ALTER ROLE ${role} SET search_path = shop, public`);
    expect(await findings("search_path")).toMatchObject([{ message: expect.stringContaining("in shop,") }]);
  });
});
