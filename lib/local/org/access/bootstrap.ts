import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../clock.ts";
import { stampOf } from "../clock.ts";
import { recordId } from "../ids.ts";
import type { Catalog } from "../metadata/catalog.ts";
import { isStored } from "../metadata/field.ts";
import type { SObject } from "../metadata/sobject.ts";
import type { Database, Row } from "../store/database.ts";
import type { Records } from "../store/records.ts";
import { keptSetting } from "../store/settings.ts";

interface Needs {
  readonly database: Database;
  readonly records: Records;
  readonly catalog: Catalog;
  readonly clock: Clock;
}

/** Who the org is and how its administrator comes in; made at the first start and kept. */
export interface Identity {
  readonly organizationId: string;
  readonly userId: string;
  readonly profileId: string;
  readonly username: string;
  readonly password: string;
  readonly accessToken: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

const USERNAME = "admin@bridge.example";

/** The org's identity, with its organization, profiles and administrator as records. */
export function bootstrap(needs: Needs): Identity {
  return needs.database.transaction(() => {
    const kept = (name: string, make: () => string) => keptSetting(needs.database, name, make);
    const organizationId = kept("organization_id", () => recordId("00D", 1 + (randomBytes(4).readUInt32BE() >>> 2)));
    const isNew = needs.records.find(needs.catalog.get("Organization"), organizationId) === undefined;
    const ids = {
      organizationId,
      userId: kept("user_id", () => newId(needs, "User")),
      profileId: kept("profile_id", () => newId(needs, "Profile")),
    };
    const identity: Identity = {
      ...ids,
      username: USERNAME,
      password: kept("password", () => `bridge-${randomBytes(9).toString("base64url")}`),
      accessToken: kept("access_token", () => sessionToken(organizationId)),
      clientId: kept("client_id", () => `3MVG9${randomBytes(40).toString("base64url")}`),
      clientSecret: kept("client_secret", () => randomBytes(32).toString("hex").toUpperCase()),
    };
    if (isNew) storeFirstRecords(needs, identity);
    needs.database.run("INSERT OR REPLACE INTO _session VALUES (?, ?, NULL)", identity.accessToken, identity.userId);
    needs.database.run(
      "INSERT OR REPLACE INTO _credential VALUES (?, ?, ?)",
      USERNAME,
      hashOf(identity.password),
      identity.userId,
    );
    storeRecordTypes(needs, identity);
    storePermissions(needs, identity);
    return identity;
  });
}

/** An access token in Salesforce's form: the org's id, an exclamation mark and a secret. */
export function sessionToken(organizationId: string): string {
  return `${organizationId.slice(0, 15)}!${randomBytes(72).toString("base64url").replaceAll("-", ".")}`;
}

/** An access token in the form of Salesforce's JSON Web Tokens; its signature is random, for it is not checked. */
export function jsonWebToken(organizationId: string, userId: string): string {
  const header = {
    tnk: `core/prod/${organizationId}`,
    ver: "1.0",
    kid: "CORE_AT",
    tty: "sfdc-core-token",
    typ: "JWT",
    alg: "RS256",
  };
  const claims = { scp: "api refresh_token", sub: `uid:${userId}`, jti: randomBytes(16).toString("hex") };
  const parts = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
  return [...parts, randomBytes(256).toString("base64url")].join(".");
}

/** How passwords are kept. */
export function hashOf(password: string): string {
  return createHash("sha256").update(`bridge org ${password}`).digest("hex");
}

function newId(needs: Needs, object: string): string {
  return needs.records.newId(needs.catalog.get(object));
}

function storeFirstRecords(needs: Needs, identity: Identity): void {
  const { organizationId, userId, profileId } = identity;
  const store = (name: string, id: string, values: Row) =>
    storeSetup(needs, needs.catalog.get(name), id, userId, values);
  store("Organization", organizationId, {
    Name: "Bridge",
    Country: "US",
    TimeZoneSidKey: "GMT",
    OrganizationType: "Developer Edition",
    DefaultLocaleSidKey: "en_US",
    LanguageLocaleKey: "en_US",
    InstanceName: "SIM1",
    FiscalYearStartMonth: 1,
  });
  store("Profile", profileId, { Name: "System Administrator", UserType: "Standard" });
  store("Profile", newId(needs, "Profile"), { Name: "Standard User", UserType: "Standard" });
  store("User", userId, {
    Username: identity.username,
    FirstName: "Ada",
    LastName: "Admin",
    Name: "Ada Admin",
    Email: "admin@bridge.example",
    Alias: "admin",
    CommunityNickname: "admin",
    IsActive: 1,
    ProfileId: profileId,
    TimeZoneSidKey: "GMT",
    LocaleSidKey: "en_US",
    EmailEncodingKey: "UTF-8",
    LanguageLocaleKey: "en_US",
    UserType: "Standard",
  });
}

/** The administrator may view everything, by the permission set that belongs to the profile. */
function storePermissions(needs: Needs, { userId, profileId }: Identity): void {
  const id = keptSetting(needs.database, "permission_set_id", () => newId(needs, "PermissionSet"));
  const [set, assignment] = [needs.catalog.get("PermissionSet"), needs.catalog.get("PermissionSetAssignment")];
  if (needs.records.find(set, id)) return;
  const values = { Name: "X00ex00000018oz", ProfileId: profileId, IsOwnedByProfile: 1, PermissionsViewAllData: 1 };
  storeSetup(needs, set, id, userId, values);
  storeSetup(needs, assignment, newId(needs, "PermissionSetAssignment"), userId, {
    PermissionSetId: id,
    AssigneeId: userId,
  });
}

function storeSetup(needs: Needs, object: SObject, id: string, userId: string, values: Row): void {
  const stamp = stampOf(needs.clock.now());
  const row: Row = {
    Id: id,
    CreatedDate: stamp,
    CreatedById: userId,
    LastModifiedDate: stamp,
    LastModifiedById: userId,
    SystemModstamp: stamp,
  };
  for (const field of object.fields)
    if (isStored(field)) row[field.name] ??= field.type === "boolean" ? Number(field.defaultValue === true) : null;
  needs.records.insert(object, { ...row, ...values });
}

/** Gives the record types of the definition their ids, and the org their records. */
function storeRecordTypes(needs: Needs, { userId }: Identity): void {
  const recordType = needs.catalog.get("RecordType");
  for (const object of needs.catalog.objects) {
    for (const type of object.recordTypes.filter((candidate) => !candidate.isMaster)) {
      if (needs.records.find(recordType, type.id)) continue;
      const values = { Name: type.name, DeveloperName: type.developerName, SobjectType: object.name, IsActive: 1 };
      storeSetup(needs, recordType, type.id, userId, values);
    }
  }
}
