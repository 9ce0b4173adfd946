import { beforeEach, describe, expect, test } from "vitest";
import { CONTACT, eachCliWorld, has } from "./world.ts";

const world = eachCliWorld();

describe("a mistake", () => {
  beforeEach(() => {
    world.answer("GET /mappings/map_1", { ...CONTACT, fields: ["Email"] });
  });

  test.each([
    ["activity --limit abc", '--limit must be a whole number, not "abc"'],
    ["poll contact --timeout soon", '--timeout must be a whole number, not "soon"'],
    ["mapping update contact --sweep-days x", '--sweep-days must be a whole number, not "x"'],
    ["budget --at-most many", "--at-most many: name a number of calls a day"],
    ["types --for cobol", "--for takes ts or drizzle"],
    ["completion tcsh", 'name one of bash, zsh, fish, not "tcsh"'],
    ["webhook listen whk_1 --forward localhost", ""],
  ])("in a value has exit code 6 and the option's name, and nothing is done: %s", async (typed, says) => {
    expect(await world.run(typed)).toMatchObject({ code: 6, stderr: has(says) });
    expect(world.calls().filter((call) => !call.startsWith("GET"))).toEqual([]);
  });

  test.each([
    ["GET /monitoring/activity", "state", "activity --state DONE", "--state"],
    ["PATCH /mappings/map_1", "body.sf_polling_seconds", "mapping update contact --interval 1", "--interval"],
    ["PATCH /mappings/map_1", "body.filter", "mapping update contact --filter x", "--filter"],
    ["PATCH /mappings/map_1", "body.fields.Nme", "mapping update contact --add-field Nme", "--add-field Nme"],
    ["PATCH /mappings/map_1", "body.fields.Nme", "mapping update contact --fields Nme", "--fields Nme"],
    ["POST /tokens", "scopes[0]", "token create a --owner b --scope c", "--scope"],
    ["POST /tokens", "valid_days", "token create a --owner b --days 0", "--days"],
  ])("that the service finds has the same, for %s of %s; programs get its words", async (call, path, typed, option) => {
    const message = `${path}: is wrong`;
    world.refuse(call, 400, "VALIDATION_ERROR", [{ path, message: "is wrong" }], message);

    const { code, stderr } = await world.run(typed);
    const forPrograms = await world.run(`${typed} --json`);

    expect([code, stderr]).toEqual([6, `bridge: ${option}: is wrong\n`]);
    expect(JSON.parse(forPrograms.stderr).error).toMatchObject({ kind: "invalid", message });
  });

  test("of a command's name is JSON for programs", async () => {
    for (const typed of ["mappng", "mapping lst", "mapping", "mapping show", "health --colr"]) {
      const { code, stdout, stderr } = await world.run(`${typed} --json`);

      expect([code, stdout]).toEqual([2, ""]);
      const message = typed === "mappng" ? "unknown command 'mappng' (Did you mean mapping?)" : has("");
      expect(JSON.parse(stderr).error).toMatchObject({ kind: "usage", message });
    }
  });

  test("in a file's place is said without a stack", async () => {
    world.answer("GET /config/export", { mappings: [] });

    const { code, stderr } = await world.run(`config export ${world.line.folder}/none/file.json`);

    expect([code, stderr]).toEqual([2, expect.stringMatching(/^bridge: ENOENT: .*file\.json'\n$/)]);
  });

  test("in the name of a mapping or an object is answered with the one that may be meant", async () => {
    world.answer("GET /objects", [{ name: "Account" }, { name: "Contact" }]);
    world.refuse("GET /objects/Contct", 404, "NOT_FOUND");
    const unknown = "sf_object: is no object that the connected org's user can see";
    world.refuse("POST /mappings", 400, "VALIDATION_ERROR", [], unknown);

    for (const [typed, says] of [
      ["mapping show Kontact", '5 bridge: there is no mapping "Kontact"; known: Contact; did you mean Contact?'],
      ["objects Contct", "5 bridge: in words; did you mean Contact?"],
      ["mapping create Acount --fields Name", `6 bridge: ${unknown}; did you mean Account?`],
      ["mapping create Zebra --fields Name", `6 bridge: ${unknown}`],
    ] as const) {
      const { code, stderr } = await world.run(typed);
      expect(`${code} ${stderr.split("\n")[0]}`).toBe(says);
    }
  });
});

const INVITED = "brg_rInvitation";
const made = (token: string, more: object = {}) => ({
  ...{ id: "tok_1", name: "ada@example.com", owner: "ada@example.com", scopes: ["read"], state: "invited", token },
  ...{ valid_until: "2026-03-08T12:00:00.000Z", ...more },
});
const linkTo = (url: string) => `${url}/#/sign-in?workspace=ws_1&invitation=${INVITED}`;

describe("bridge invite", () => {
  test.each([
    ["", { scopes: ["read"] }],
    [" --operate", { scopes: ["operate"] }],
    [" --admin --days 1", { scopes: ["admin"], valid_days: 1 }],
  ])("with %j asks for that, and prints the link alone, or beside the answer", async (options, asked) => {
    world.answer("POST /tokens", made(INVITED));

    const { code, stdout, stderr } = await world.run(`invite ada@example.com${options}`);
    const json = await world.line.json(["invite", "ada@example.com"]);

    expect([code, stdout]).toEqual([0, `${linkTo(world.url)}\n`]);
    expect(stderr).toContain("Send ada@example.com this link. It works once, until 2026-03-08");
    const named = { name: "ada@example.com", owner: "ada@example.com", invitation: true };
    expect(world.bodies("POST")[0]).toEqual({ ...named, ...asked });
    expect(json).toEqual({ ...made(INVITED), link: linkTo(world.url) });
  });
});

describe("bridge accept", () => {
  test("sends the invitation as the token, and keeps the one that it gets", async () => {
    world.answer("POST /tokens/accept", made("brg_rTheirOwn", { state: "valid", valid_until: null }));
    const ada = world.user();

    const { code, stdout } = await ada.run(["accept", "--name", "work"], { stdin: `${linkTo(world.url)}\n` });

    expect([code, stdout]).toEqual([0, has("workspace ws_1, as ada@example.com (read)")]);
    expect(stdout).toContain("Kept as profile work in ");
    expect(world.asked.at(-1)?.headers.authorization).toBe(`Bearer ${INVITED}`);
    world.answer("GET /tokens/current", made("", { state: "valid" }));
    expect((await ada.run(["whoami"])).code).toBe(0);
    expect(world.asked.at(-1)?.headers.authorization).toBe("Bearer brg_rTheirOwn");
    expect(stdout).not.toContain("brg_r");
  });

  test("refuses no link, a link that is cut and one that signs in, as invite does two scopes, and asks nothing", async () => {
    const cut = "https://bridge.example.com/#/sign-in?workspace=ws_1";
    for (const stdin of ["hello", cut, `${cut}&token=brg_r`])
      expect(await world.user().run(["accept"], { stdin })).toMatchObject({ code: 2, stderr: has("copy it whole") });
    const scopes = await world.run("invite ada@example.com --read --admin");

    expect(scopes).toMatchObject({ code: 2, stderr: has("choose one of --read, --operate and --admin") });
    expect(world.asked).toEqual([]);
  });
});
