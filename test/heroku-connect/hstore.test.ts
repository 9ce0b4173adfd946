import { randomUUID } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { migrate } from "../../lib/adapters/postgres/schema/migrate.ts";
import { createProvisioner } from "../../lib/adapters/postgres/schema/provision.ts";
import { openSession } from "../../lib/adapters/postgres/session/session.ts";
import { archiveLog } from "../../lib/heroku-connect/archive-log.ts";
import { herokuConnect } from "../../lib/heroku-connect/heroku-connect.ts";
import { readerOfHstore } from "../../lib/heroku-connect/hstore.ts";
import { type Customer, createCustomer } from "../adapters/postgres/customer.ts";
import { firstInGate } from "../support/run/whole-grid.ts";
import { herokuConnectSchema } from "../support/worlds/heroku-connect.ts";
import { contactShape, mappingOf } from "../support/worlds/shapes.ts";

const role = `service_${randomUUID().slice(0, 8)}`;
let admin: Customer;
afterEach(async () => {
  await admin.asSuperuser(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`);
  await admin.close();
});

test.for(
  firstInGate(2, [
    { place: '"Ext "" 1"', mayUse: true },
    { place: "hidden", mayUse: false },
    { place: "public", mayUse: true },
    { place: "extensions", mayUse: true },
  ]),
)(
  "an ordinary role takes over what waits in Heroku Connect's log, hstore being in $place",
  async ({ place, mayUse }) => {
    admin = await createCustomer({ provisioned: false });
    const [here] = await admin.asSuperuser("SELECT current_database() AS name");
    await admin.asSuperuser(`CREATE ROLE ${role} LOGIN PASSWORD 'test'`);
    await admin.asSuperuser(`CREATE SCHEMA IF NOT EXISTS ${place}; CREATE EXTENSION hstore SCHEMA ${place}`);
    await admin.asSuperuser(
      `GRANT CREATE ON DATABASE ${here?.["name"]} TO ${role}; GRANT CREATE ON SCHEMA public TO ${role}`,
    );
    await admin.asSuperuser(`GRANT USAGE ON SCHEMA ${place} TO ${role}`);
    const owner = await admin.connect({ user: role, password: "test" });
    await owner.query(`SET search_path = public, ${place}`);
    await owner.query(herokuConnectSchema([{ table: "contact", columns: { lastname: "varchar(80)" } }]));
    await owner.query("INSERT INTO salesforce.contact (lastname) VALUES ($1)", ['O"Neil \\ 😀']);
    await owner.end();
    const url = new URL(admin.url);
    Object.assign(url, { username: role, password: "test" });
    const connection = { url: url.href, schema: "salesforce" };
    const session = await openSession(connection);
    const without = `REVOKE USAGE ON SCHEMA ${place} FROM ${role}`;
    if (!mayUse) {
      // Heroku Connect's functions that take an hstore are created again.
      await admin.asSuperuser(without);
      await expect(migrate(session, "salesforce", "w_1", { archiveLog })).rejects.toThrow(
        "permission denied for schema hidden; connect as the role that owns it, and grant that role what it lacks",
      );
      await admin.asSuperuser(`GRANT USAGE ON SCHEMA ${place} TO ${role}`);
    }
    await migrate(session, "salesforce", "w_1", { archiveLog });
    if (!mayUse) await admin.asSuperuser(without);
    const read = await readerOfHstore(session);
    await session.close();

    await createProvisioner(connection, () => new Date(), herokuConnect).provision(
      mappingOf(contactShape()),
      contactShape(),
    );

    expect(
      await admin.asSuperuser(
        `SELECT action, record_id::int, state, "values" ->> 'lastname' AS lastname FROM salesforce._trigger_log`,
      ),
    ).toEqual([{ action: "INSERT", record_id: 1, state: "NEW", lastname: 'O"Neil \\ 😀' }]);
    expect(read("t").includes("hstore_to_jsonb"), "by the extension, which is seventy times as fast").toBe(mayUse);
  },
);
