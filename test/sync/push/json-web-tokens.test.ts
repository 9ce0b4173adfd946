import { expect, test } from "vitest";
import { engineReports, workspaces } from "../../../functions/services/composition.ts";
import { eachInAWorld, world } from "../world.ts";

/** An app that issues JSON Web Tokens as access tokens, with which SOAP saves nothing below API version 68. */

eachInAWorld();

const release = (order: { readonly newestVersion?: number; readonly jsonWebTokens?: boolean }) =>
  world.control("PUT", "/release", order);
const changes = () => world.sql("SELECT state, sent_at, attempts FROM salesforce._trigger_log");
const report = async () => (await engineReports().read(world.workspaceId)).mappings[0];
const version = async () => (await (await workspaces().find(world.workspaceId))?.open())?.salesforce?.apiVersion;

test("what waits stays NEW and is never in doubt, the mapping says what to do, and once that is done it is saved without any user's help", async () => {
  await release({ newestVersion: 67, jsonWebTokens: true });
  await world.mapContact(["LastName"]);
  await world.insert("Ada");

  await world.cycles();

  expect(await changes()).toEqual([{ state: "NEW", sent_at: null, attempts: 0 }]);
  expect((await world.requested()).filter(({ api }) => api === "SOAP")).toEqual([]);
  expect(await report()).toMatchObject({ broken: true, failure: "salesforce_authorization" });
  expect((await report())?.message).toContain(
    "and the connection uses 67.0: switch off 'Issue JSON Web Token (JWT)-based",
  );

  await release({ jsonWebTokens: false });
  await world.control("DELETE", "/sessions");
  await world.pass(60);
  await world.cycles();

  expect(await changes()).toMatchObject([{ state: "SUCCESS" }]);
  expect(await report()).toMatchObject({ broken: false });
});

test("a connection of before, at version 66, stays there while SOAP takes its tokens, and else moves to version 68 with its next session", async () => {
  await world.mapContact(["LastName"]);
  await world.control("DELETE", "/sessions");
  await world.cycles();
  expect(await version()).toBe("66.0");
  await release({ jsonWebTokens: true });
  await world.control("DELETE", "/sessions");
  await world.insert("Ada");

  await world.cycles();

  expect(await version()).toBe("68.0");
  expect(await changes()).toMatchObject([{ state: "SUCCESS" }]);
  expect(await world.namesThere()).toEqual(["Ada"]);
});
