import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { now, workspaces } from "../../functions/services/composition.ts";
import { loginServices } from "../../functions/services/login-services.ts";
import { connectByCredentials } from "../../lib/settings/connect-salesforce.ts";
import { createOrgUser } from "../support/clients/org-user.ts";
import { eachInAWorld, LOST, world } from "./world.ts";

eachInAWorld(() => world.mapContact(["Email", "LastName"]));

/** What an administrator does when the integration's user is exchanged. */
async function connectAs(name: string): Promise<string> {
  const { url, clientId, clientSecret } = world.org;
  const { userId, username, password } = await createOrgUser(world.org, name);
  const workspace = await workspaces().find(world.workspaceId);
  if (!workspace) throw new Error("the workspace is gone");
  const credentials = { kind: "password", clientId, clientSecret, username, password } as const;
  await connectByCredentials(loginServices(), { workspace, actor: "test", at: now() }, url, credentials);
  return userId;
}

test("an insert whose answer was lost is found though the org was connected as another user since", async () => {
  await world.insert("Curie");
  await world.fault(LOST);
  await world.cycles();
  const another = await connectAs("another");

  await world.cycles();
  await world.untilKnown();

  const { rows, records } = await world.bothSides();
  expect(records).toMatchObject([{ LastName: "Curie" }]);
  expect(rows).toEqual(records);
  expect(await world.soql("SELECT CreatedById FROM Contact")).not.toEqual([{ CreatedById: another }]);
});

/** What Bridge asks an org for, and the permission that it takes, in the words of security.md. */
const TAKES: readonly (readonly [RegExp, string])[] = [
  [/\/limits(\/recordCount\?sObjects=\w+)?$/, "View Setup and Configuration"],
  [/\/sobjects\/(Account|Contact)\/describe$/, "Read on each mapped object"],
  [/\/queryAll\?q=SELECT\+[\w,+]+\+FROM\+(Account|Contact)\+/, "Read on each mapped object"],
  [/\/Soap\/u\/68.0 (create|update|upsert|delete)$/, "Create, Edit, Delete on the objects"],
  // Queries of records by their ids, and of the permission sets of the user.
  [/\/composite$/, "View Setup and Configuration"],
];

/** Every kind of work, by a user who is not the administrator and may not view all records; gives what was asked for. */
async function everyWork(): Promise<readonly string[]> {
  await connectAs("integration");
  await world.colleague("POST", "/sobjects/Contact", { LastName: "Hopper" });
  await world.control("DELETE", "/requests");
  await world.map({ object: "Account", fields: ["Name", "External_Id__c"], upsertField: "External_Id__c" });
  await world.insert("Curie", "Noether");
  await world.sql("INSERT INTO salesforce.account (name, external_id__c) VALUES ('Acme', 'a1')");
  for (const object of ["Contact", "Account", "Contact"]) await world.cycles(1, await world.mappingOf(object));
  await world.sql("UPDATE salesforce.contact SET email = 'marie@example.com' WHERE lastname = 'Curie'");
  await world.cycles();
  await world.sql("DELETE FROM salesforce.contact WHERE lastname = 'Curie'");
  await world.cycles();
  const seen = (await world.control("GET", "/requests")) as readonly { request: string; operation: string | null }[];
  return seen.map(({ request, operation }) => decodeURIComponent(operation ? `${request} ${operation}` : request));
}

/** The record is there for all users but us: gone without a trace that we may see. */
async function sweepWithoutHopper(): Promise<void> {
  await world.colleague("DELETE", `/sobjects/Contact/${await world.idOf("Hopper")}`);
  await world.control("DELETE", "/recycle-bin");
  await world.control("DELETE", "/delete-log");
  await world.pass(11 * 60);
  await world.sweep();
}

const rows = () => world.sql("SELECT lastname, _ab_lastop FROM salesforce.contact ORDER BY lastname");
const BOTH = [
  { lastname: "Hopper", _ab_lastop: "SYNCED" },
  { lastname: "Noether", _ab_lastop: "INSERTED" },
];

test("an integration user needs no permission beyond those of security.md, and keeps the rows that it may not see", async () => {
  const requests = await everyWork();
  const permission = (request: string) => TAKES.find(([form]) => form.test(request))?.[1];

  expect(requests.filter((request) => permission(request) === undefined)).toEqual([]);
  const page = readFileSync("lib/docs/security.md", "utf8");
  expect(TAKES.filter(([, named]) => !page.includes(named))).toEqual([]);
  expect(TAKES.slice(0, 4).filter(([form]) => !requests.some((request) => form.test(request)))).toEqual([]);
  await sweepWithoutHopper();
  expect(await rows()).toEqual(BOTH);
});

test("without View Setup and Configuration rows move all the same", async () => {
  await world.fault({ kind: "malformedRequest", code: "INSUFFICIENT_ACCESS", path: "/limits", times: 0 });
  await world.create("Hopper");
  await world.insert("Noether");

  await world.cycles();

  expect(await rows()).toEqual(BOTH);
  expect(await world.namesThere()).toEqual(["Hopper", "Noether"]);
});
