import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CliWorld, startCliWorld } from "./world.ts";

let world: CliWorld;
beforeEach(async () => {
  world = await startCliWorld();
});
afterEach(() => world.close());

const SINCE = "2026-03-04T05:06:07.000Z";
const URL_OF = "https://bridge.example.com/ring/ws_1/ring_abc";
const bell = (sf_object: string, state: string, since: string | null = SINCE) => ({
  ...{ mapping_id: `map_${sf_object}`, sf_object, state, since, rung_at: null },
});
const mapping = (sf_object: string, more = {}) => ({
  ...{ sf_object, active: true, sync_direction: "bidirectional", sf_notify_enabled: true, ...more },
});

function say(mappings: readonly object[], more = {}) {
  world.answer("GET /doorbell", { created_at: "2026-03-01T00:00:00.000Z", mappings, ...more });
}

describe("bridge doorbell", () => {
  test.each([
    [
      "there is none",
      { created_at: null },
      [bell("Contact", "off", null)],
      0,
      /--doorbell on, then bridge doorbell --prepare/,
    ],
    ["it has not rung yet", {}, [bell("Contact", "waiting")], 0, /Not rung yet: deploy the metadata/],
    [
      "its URL is of a secret that an operator has changed",
      { url_outdated: true },
      [bell("Contact", "alive")],
      0,
      /changed the secret of its URL.* gets the new URL by: bridge doorbell --prepare/,
    ],
    ["it is alive", {}, [bell("Contact", "alive")], 0, /Deletes do not ring/],
    [
      "a change came without it",
      {},
      [bell("Contact", "dead", "2026-03-04T05:00:00.000Z")],
      10,
      /the flow Bridge Doorbell Contact is active.* Bridge's address .* works from outside/,
    ],
  ])("says what to do when %s", async (_, more, mappings, code, remedy) => {
    say(mappings, more);

    const ended = await world.line.run(["doorbell"]);

    expect(ended.code).toBe(code);
    expect(ended.stderr).toMatch(remedy);
  });

  test("is reported by doctor where a mapping listens, and only there", async () => {
    for (const call of ["GET /openapi.json", "POST /connections/postgres/test", "POST /connections/salesforce/test"])
      world.answer(call, { ok: true, findings: [] });
    for (const call of ["GET /monitoring/mappings", "GET /monitoring/failures", "GET /webhooks"])
      world.answer(call, []);
    world.answer("GET /health", { sync: {} });
    say([bell("Contact", "dead", "2026-03-04T05:00:00.000Z"), bell("Account", "alive"), bell("Lead", "off", null)]);

    const { stdout } = await world.line.run(["doctor", "--all"]);

    expect(stdout).toContain(
      "! the doorbell of Contact is dead since 2026-03-04T05:00:00.000Z\n    Changes of Contact came",
    );
    expect(stdout).toContain(`✓ the doorbell of Account is alive since ${SINCE}\n`);
    expect(stdout).not.toContain("Lead");
  });

  test("whose URL is outdated is a warning of doctor with what to run, while it still rings", async () => {
    for (const call of ["GET /openapi.json", "POST /connections/postgres/test", "POST /connections/salesforce/test"])
      world.answer(call, { ok: true, findings: [] });
    for (const call of ["GET /monitoring/mappings", "GET /monitoring/failures", "GET /webhooks"])
      world.answer(call, []);
    world.answer("GET /health", { sync: {} });
    say([bell("Contact", "alive")], { url_outdated: true });

    const { stdout } = await world.line.run(["doctor"]);

    expect(stdout).toMatch(
      /! the doorbell of Contact is alive since .*\n {4}An operator has .*bridge doorbell --prepare/,
    );
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
    const prepare = () => world.line.run(["doorbell", "--prepare", "doorbell", "--user", "ada@example.com"]);

    const done = await prepare();
    const again = await prepare();

    const folder = join(world.line.folder, "doorbell");
    expect(done.stdout).toBe(
      "doorbell rings for Contact. Deploy it with: sf project deploy start --metadata-dir doorbell\n",
    );
    expect(readdirSync(folder, { recursive: true }).map(String).toSorted()).toEqual([
      "flows",
      "flows/Bridge_Doorbell_Contact.flow",
      "package.xml",
      "workflows",
      "workflows/Contact.workflow",
    ]);
    expect(readFileSync(join(folder, "workflows/Contact.workflow"), "utf8")).toContain(`${URL_OF}?object=Contact<`);
    expect([again.code, again.stderr]).toEqual([7, "bridge: doorbell is not empty: name a new folder\n"]);
  });

  test("writes nothing where no mapping listens, no user is named, or Salesforce cannot reach the deployment", async () => {
    world.answer("GET /monitoring/mappings", [mapping("Account", { sf_notify_enabled: false })]);
    world.answer("GET /connections", { postgres: null, salesforce: { api_version: "66.0" } });
    world.refuse("POST /doorbell", 409, "CONFLICT", [], "deploy it with a domain");
    const prepare = (...more: string[]) => world.line.run(["doorbell", "--prepare", "doorbell", ...more]);

    const unnamed = await prepare();
    const deaf = await prepare("--user", "ada@example.com");
    world.answer("GET /monitoring/mappings", [mapping("Account")]);
    const unreachable = await prepare("--user", "ada@example.com");

    expect([unnamed.code, deaf.code, unreachable.code]).toEqual([2, 7, 7]);
    expect(deaf.stderr).toContain("switched on: bridge mapping update MAPPING --doorbell on");
    expect(unreachable.stderr).toContain("deploy it with a domain");
    expect(readdirSync(world.line.folder)).not.toContain("doorbell");
  });

  test("gives another URL, and takes it away", async () => {
    world.answer("POST /doorbell", { url: URL_OF, former_until: SINCE });
    world.answer("DELETE /doorbell", { removed: true });

    const rotated = await world.line.run(["doorbell", "--rotate"]);
    const removed = await world.line.run(["doorbell", "--remove"]);
    const both = await world.line.run(["doorbell", "--remove", "--rotate"]);

    expect([rotated.stdout, both.code]).toEqual([`${URL_OF}\n`, 2]);
    expect(rotated.stderr).toContain(`The former URL works until ${SINCE}`);
    expect(removed.stdout).toContain("polled at their full pace");
    expect(world.asked.map(({ call }) => call)).toEqual(["POST /doorbell?rotate=true", "DELETE /doorbell"]);
  });
});
