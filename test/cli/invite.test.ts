import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CliWorld, startCliWorld } from "./world.ts";

let world: CliWorld;
beforeEach(async () => {
  world = await startCliWorld();
});
afterEach(() => world.close());

const INVITED = "brg_rInvitation";
const made = (token: string, more: object = {}) => ({
  ...{ id: "tok_1", name: "ada@example.com", owner: "ada@example.com", scopes: ["read"], state: "invited", token },
  ...{ valid_until: "2026-03-08T12:00:00.000Z", ...more },
});
const linkTo = (url: string) => `${url}/#/sign-in?workspace=ws_1&invitation=${INVITED}`;

describe("bridge invite", () => {
  test.each([
    [[], { scopes: ["read"] }],
    [["--read"], { scopes: ["read"] }],
    [["--operate"], { scopes: ["operate"] }],
    [["--admin", "--days", "1"], { scopes: ["admin"], valid_days: 1 }],
  ])("with %j asks for that, and prints the link alone", async (options, asked) => {
    world.answer("POST /tokens", made(INVITED));

    const { code, stdout, stderr } = await world.line.run(["invite", "ada@example.com", ...options]);

    expect([code, stdout]).toEqual([0, `${linkTo(world.url)}\n`]);
    expect(stderr).toContain("Send ada@example.com this link. It works once, until 2026-03-08");
    expect(JSON.parse(world.asked.at(-1)?.body ?? "")).toEqual({
      ...{ name: "ada@example.com", owner: "ada@example.com", invitation: true, ...asked },
    });
  });

  test("two scopes are refused, and nothing is asked", async () => {
    const { code, stderr } = await world.line.run(["invite", "ada@example.com", "--read", "--admin"]);

    expect([code, world.asked]).toEqual([2, []]);
    expect(stderr).toContain("choose one of --read, --operate and --admin");
  });

  test("--json has the link beside the answer", async () => {
    world.answer("POST /tokens", made(INVITED));

    const { stdout } = await world.line.run(["invite", "ada@example.com", "--json"]);

    expect(JSON.parse(stdout)).toEqual({ ...made(INVITED), link: linkTo(world.url) });
  });
});

describe("bridge accept", () => {
  const stranger = () => world.user();

  test("sends the invitation as the token, and keeps the one that it gets", async () => {
    world.answer("POST /tokens/accept", made("brg_rTheirOwn", { state: "valid", valid_until: null }));
    const ada = stranger();

    const { code, stdout } = await ada.run(["accept"], { stdin: `${linkTo(world.url)}\n` });

    expect([code, stdout]).toEqual([0, expect.stringContaining("workspace ws_1, as ada@example.com (read)")]);
    expect(world.asked.at(-1)?.headers.authorization).toBe(`Bearer ${INVITED}`);
    world.answer("GET /tokens/current", made("", { state: "valid" }));
    expect((await ada.run(["whoami"])).code).toBe(0);
    expect(world.asked.at(-1)?.headers.authorization).toBe("Bearer brg_rTheirOwn");
    expect(stdout).not.toContain("brg_r");
  });

  test.each([
    ["no link", "hello"],
    ["a link that is cut", "https://bridge.example.com/#/sign-in?workspace=ws_1"],
    ["a link that signs in", "https://bridge.example.com/#/sign-in?workspace=ws_1&token=brg_r"],
  ])("refuses %s, and asks nothing", async (_, link) => {
    const { code, stderr } = await stranger().run(["accept"], { stdin: link });

    expect([code, world.asked]).toEqual([2, []]);
    expect(stderr).toContain("copy it whole");
  });
});
