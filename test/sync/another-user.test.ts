import { expect, test } from "vitest";
import { now, workspaces } from "../../functions/services/composition.ts";
import { loginServices } from "../../functions/services/login-services.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { connectByCredentials } from "../../lib/settings/connect-salesforce.ts";
import { createOrgUser } from "../support/clients/org-user.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

const LOST = { kind: "saveThenDrop", path: "services/Soap" };
const ELEVEN_MINUTES = 11 * 60;

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  ({ world } = made);
  contact = await mapped(world, { object: "Contact", fields: ["Email", "LastName"] });
});

const records = () => world.soql("SELECT Id, LastName, CreatedById FROM Contact");

/** What an administrator does when the integration's user is exchanged. */
async function connectAs(name: string): Promise<string> {
  const { url, clientId, clientSecret } = world.org;
  const { userId, username, password } = await createOrgUser(world.org, name);
  const workspace = await workspaces().find(world.workspaceId);
  if (!workspace) throw new Error("the workspace is gone");
  await connectByCredentials(loginServices(), { workspace, actor: "test", at: now() }, url, {
    kind: "password",
    clientId,
    clientSecret,
    username,
    password,
  });
  return userId;
}

test("an insert whose answer was lost is found though the org was connected as another user since", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
  await world.fault(LOST);
  await world.cycle(contact);
  const another = await connectAs("another");

  await world.cycle(contact);
  await world.pass(ELEVEN_MINUTES);
  await world.cycle(contact);
  await world.cycle(contact);

  const [record, ...others] = await records();
  expect(others).toEqual([]);
  expect(record?.["CreatedById"]).not.toBe(another);
  const rows = await world.sql("SELECT sfid, lastname FROM salesforce.contact");
  expect(rows).toEqual([{ sfid: record?.["Id"], lastname: "Curie" }]);
});
