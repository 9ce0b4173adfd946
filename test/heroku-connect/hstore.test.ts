import { randomUUID } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { createProvisioner } from "../../lib/adapters/postgres/schema/provision.ts";
import { openSession } from "../../lib/adapters/postgres/session/session.ts";
import { herokuConnect } from "../../lib/heroku-connect/heroku-connect.ts";
import { readerOfHstore } from "../../lib/heroku-connect/hstore.ts";
import { type Customer, createCustomer } from "../adapters/postgres/customer.ts";
import { herokuConnectSchema } from "../support/worlds/heroku-connect.ts";
import { contactShape, mappingOf } from "../support/worlds/shapes.ts";
import { adoptSchema } from "./their-database.ts";

const role = `service_${randomUUID().slice(0, 8)}`;
let admin: Customer;
afterEach(async () => {
  await admin.asSuperuser(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`);
  await admin.close();
});

test.for([
  { place: '"Ext "" 1"', mayUse: true },
  { place: "hidden", mayUse: false },
])(
  "an ordinary role takes over what waits in Heroku Connect's log, hstore being in $place",
  async ({ place, mayUse }) => {
    admin = await createCustomer({ provisioned: false });
    const [here] = await admin.asSuperuser("SELECT current_database() AS name");
    await admin.asSuperuser(`CREATE ROLE ${role} LOGIN PASSWORD 'test';
    CREATE SCHEMA IF NOT EXISTS ${place}; CREATE EXTENSION hstore SCHEMA ${place};
    GRANT CREATE ON DATABASE ${here?.["name"]} TO ${role}; GRANT CREATE ON SCHEMA public TO ${role};
    GRANT USAGE ON SCHEMA ${place} TO ${role}`);
    const owner = await admin.connect({ user: role, password: "test" });
    await owner.query(`SET search_path = public, ${place}`);
    await owner.query(herokuConnectSchema([{ table: "contact", columns: { lastname: "varchar(80)" } }]));
    await owner.query("INSERT INTO salesforce.contact (lastname) VALUES ($1)", ['O"Neil \\ 😀']);
    await owner.end();
    const url = Object.assign(new URL(admin.url), { username: role, password: "test" }).href;
    const connection = { url, schema: "salesforce" };
    const without = `REVOKE USAGE ON SCHEMA ${place} FROM ${role}`;
    if (!mayUse) {
      // Heroku Connect's functions that take an hstore are created again.
      await admin.asSuperuser(without);
      await expect(adoptSchema(url)).rejects.toThrow(
        "permission denied for schema hidden; connect as the role that owns it, and grant that role what it lacks",
      );
      await admin.asSuperuser(`GRANT USAGE ON SCHEMA ${place} TO ${role}`);
    }
    await adoptSchema(url);
    if (!mayUse) await admin.asSuperuser(without);
    const session = await openSession(connection);
    const read = await readerOfHstore(session).finally(() => session.close());

    const provisioner = createProvisioner(connection, () => new Date(), herokuConnect);
    await provisioner.provision(mappingOf(contactShape()), contactShape());

    const log = `SELECT action, record_id::int, state, "values" ->> 'lastname' AS lastname FROM salesforce._trigger_log`;
    expect(await admin.asSuperuser(log)).toEqual([
      { action: "INSERT", record_id: 1, state: "NEW", lastname: 'O"Neil \\ 😀' },
    ]);
    expect(read("t").includes("hstore_to_jsonb"), "by the extension, which is seventy times as fast").toBe(mayUse);
  },
);
