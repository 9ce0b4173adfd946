import { describe, expect, test } from "vitest";
import { eachCliWorld, has } from "./world.ts";

const world = eachCliWorld();

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
    const json = await world.run("invite ada@example.com --json");

    expect([code, stdout]).toEqual([0, `${linkTo(world.url)}\n`]);
    expect(stderr).toContain("Send ada@example.com this link. It works once, until 2026-03-08");
    const named = { name: "ada@example.com", owner: "ada@example.com", invitation: true };
    expect(world.bodies("POST")[0]).toEqual({ ...named, ...asked });
    expect(JSON.parse(json.stdout)).toEqual({ ...made(INVITED), link: linkTo(world.url) });
  });
});

describe("bridge accept", () => {
  test("sends the invitation as the token, and keeps the one that it gets", async () => {
    world.answer("POST /tokens/accept", made("brg_rTheirOwn", { state: "valid", valid_until: null }));
    const ada = world.user();

    const { code, stdout } = await ada.run(["accept"], { stdin: `${linkTo(world.url)}\n` });

    expect([code, stdout]).toEqual([0, has("workspace ws_1, as ada@example.com (read)")]);
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
