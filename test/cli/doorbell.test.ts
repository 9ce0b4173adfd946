import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eachCliWorld, has } from "./world.ts";

const world = eachCliWorld();

const SINCE = "2026-03-04T05:06:07.000Z";
const URL_OF = "https://bridge.example.com/ring/ws_1/ring_abc";
const mapping = (sf_object: string, more = {}) => ({
  ...{ sf_object, active: true, sync_direction: "bidirectional", sf_notify_enabled: true, ...more },
});

describe("bridge doorbell", () => {
  test.each([
    ["there is none", { created_at: null }, "off", 0, /--doorbell on, then bridge doorbell --prepare/],
    ["it has not rung yet", {}, "waiting", 0, /Not rung yet: deploy the metadata/],
    ["its secret was changed", { url_outdated: true }, "alive", 0, /gets the new URL by: bridge doorbell --prepare/],
    ["it is alive", {}, "alive", 0, /Deletes do not ring/],
    ["a change came without it", {}, "dead", 10, /flow Bridge Doorbell Contact is active.* address .* from outside/],
  ])("says what to do when %s", async (_, more, state, code, remedy) => {
    const bell = { mapping_id: "map_1", sf_object: "Contact", state, since: state === "off" ? null : SINCE };
    world.answer("GET /doorbell", { created_at: SINCE, mappings: [{ ...bell, rung_at: null }], ...more });

    expect(await world.run("doorbell")).toMatchObject({ code, stderr: expect.stringMatching(remedy) });
  });

  test("writes the metadata of the mappings that listen, into a new folder that only its owner reads", async () => {
    world.answer("GET /monitoring/mappings", [
      mapping("Contact"),
      mapping("Account", { sf_notify_enabled: false }),
      mapping("Lead", { active: false }),
      mapping("Case", { sync_direction: "pg_to_sf" }),
    ]);
    world.answer("GET /connections", { postgres: null, salesforce: { api_version: "66.0" } });
    world.answer("POST /doorbell", { url: URL_OF, former_until: null });
    const prepare = () => world.run("doorbell --prepare doorbell --user ada@example.com");

    const [done, again] = [await prepare(), await prepare()];

    const folder = join(world.line.folder, "doorbell");
    const says = "doorbell rings for Contact. Deploy it with: sf project deploy start --metadata-dir doorbell\n";
    expect(done.stdout).toBe(says);
    const files = ["package.xml", "workflows", "workflows/Contact.workflow"];
    const written = readdirSync(folder, { recursive: true }).map(String).toSorted();
    expect(written).toEqual(["flows", "flows/Bridge_Doorbell_Contact.flow", ...files]);
    expect(readFileSync(join(folder, "workflows/Contact.workflow"), "utf8")).toContain(`${URL_OF}?object=Contact<`);
    expect([again.code, again.stderr]).toEqual([7, "bridge: doorbell is not empty: name a new folder\n"]);
  });

  test("writes nothing where no mapping listens, no user is named, or Salesforce cannot reach the deployment", async () => {
    world.answer("GET /monitoring/mappings", [mapping("Account", { sf_notify_enabled: false })]);
    world.answer("GET /connections", { postgres: null, salesforce: { api_version: "66.0" } });
    world.refuse("POST /doorbell", 409, "CONFLICT", [], "deploy it with a domain");

    const unnamed = await world.run("doorbell --prepare doorbell");
    const deaf = await world.run("doorbell --prepare doorbell --user ada@example.com");
    world.answer("GET /monitoring/mappings", [mapping("Account")]);
    const unreachable = await world.run("doorbell --prepare doorbell --user ada@example.com");

    expect(unnamed.code).toBe(2);
    expect(deaf).toMatchObject({ code: 7, stderr: has("switched on: bridge mapping update MAPPING --doorbell on") });
    expect(unreachable).toMatchObject({ code: 7, stderr: has("deploy it with a domain") });
    expect(readdirSync(world.line.folder)).not.toContain("doorbell");
  });

  test("gives another URL, and takes it away", async () => {
    world.answer("POST /doorbell", { url: URL_OF, former_until: SINCE });
    world.answer("DELETE /doorbell", { removed: true });

    const rotated = await world.run("doorbell --rotate");
    const removed = await world.run("doorbell --remove");
    const both = await world.run("doorbell --remove --rotate");

    expect(rotated).toMatchObject({ stdout: `${URL_OF}\n`, stderr: has(`The former URL works until ${SINCE}`) });
    expect(removed.stdout).toContain("polled at their full pace");
    expect([both.code, world.calls()]).toEqual([2, ["POST /doorbell?rotate=true", "DELETE /doorbell"]]);
  });
});
