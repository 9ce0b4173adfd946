import { afterEach, beforeEach, expect, test } from "vitest";
import { databases } from "../../../../lib/adapters/postgres/operations/inspect-database.ts";
import { judgeDatabase } from "../../../../lib/settings/judge-database.ts";
import { aCustomerForEachTest, customer, sql } from "../world.ts";

/** Another role of the server. */
let neighbour: string;
aCustomerForEachTest();
beforeEach(async () => {
  neighbour = `neighbour_of_${new URL(customer.url).pathname.slice(1)}`;
  await customer.asSuperuser(`CREATE ROLE ${neighbour}`);
  await sql(`CREATE FUNCTION salesforce.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`);
});
afterEach(() => customer.asSuperuser(`DROP OWNED BY ${neighbour}; DROP ROLE ${neighbour}`));

/** What `bridge doctor` says of one of the database's checks. */
async function findings(check: string, url = customer.url) {
  const facts = await databases.look({ url, schema: "salesforce" });
  return judgeDatabase(facts, "salesforce", "w_1").filter((finding) => finding.check === check);
}

const UNDO = "CREATE TRIGGER undo % EXECUTE FUNCTION salesforce.nothing()";

test.each([
  ["undo on _bridge_outbox", UNDO.replace("%", "BEFORE DELETE ON salesforce._bridge_outbox FOR EACH ROW")],
  ["undo on _trigger_log", UNDO.replace("%", "BEFORE INSERT ON salesforce._trigger_log FOR EACH STATEMENT")],
  ["undo on _bridge_state", UNDO.replace("%", "BEFORE INSERT OR UPDATE ON salesforce._bridge_state FOR EACH ROW")],
  ["silent on _bridge_state", "CREATE RULE silent AS ON UPDATE TO salesforce._bridge_state DO INSTEAD NOTHING"],
])("what may undo Bridge's own writes is named: %s", async (what, make) => {
  expect(await findings("writes")).toEqual([]);
  await sql(make);
  expect(await findings("writes")).toMatchObject([
    { ok: false, message: expect.stringMatching(`^${what}, one of Bridge's tables, may undo Bridge's writes$`) },
  ]);
});

test("what comes after each row, or is on a table of the application, undoes nothing", async () => {
  await sql(UNDO.replace("%", "AFTER DELETE ON salesforce._bridge_outbox FOR EACH ROW"));
  await sql(UNDO.replace("%", "BEFORE DELETE ON salesforce.contact FOR EACH ROW"));
  expect(await findings("writes")).toEqual([]);
});

test.each([
  ["every role", "GRANT CREATE ON SCHEMA public TO PUBLIC", "public"],
  ["another role", "GRANT CREATE ON SCHEMA public TO %", "public"],
  [
    "another role, in a schema that the role's own search path names",
    `CREATE SCHEMA shop; GRANT USAGE ON SCHEMA shop TO OWN; GRANT CREATE ON SCHEMA shop TO %;
     ALTER ROLE OWN SET search_path = shop, public`,
    "shop",
  ],
  ["no other role", "SELECT 1", null],
  ["its owner and Bridge's role alone", "GRANT CREATE ON SCHEMA public TO OWN", null],
  [
    "others, outside of the search path",
    "CREATE SCHEMA theirs; GRANT CREATE ON SCHEMA theirs TO PUBLIC; GRANT USAGE ON SCHEMA public TO %",
    null,
  ],
])("schemas of the search path in which %s may create are named", async (_, grant, named) => {
  // PostgreSQL 15 and later grant none of it.
  await customer.asSuperuser("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
  const own = new URL(customer.url).username;
  await customer.asSuperuser(grant.replaceAll("OWN", own).replaceAll("%", neighbour));

  const found = {
    check: "search_path",
    ok: true,
    message: expect.stringContaining(`other roles may create functions and operators in ${named}`),
    remedy: expect.stringContaining(`REVOKE CREATE ON SCHEMA "${named}" FROM PUBLIC`),
  };
  expect(await findings("search_path")).toEqual(named ? [found] : []);
});
