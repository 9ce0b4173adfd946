import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { EVIL, STEERING, steeringIn } from "../support/doubles/hostile-service.ts";
import { type CliWorld, startCliWorld } from "./world.ts";

let world: CliWorld;
beforeEach(async () => {
  world = await startCliWorld();
});
afterEach(() => world.close());

const token = (name: string) => ({ id: "tok_1", name, owner: "ada@example.com", scopes: ["read"], state: "valid" });

const LOOKS = [{ columns: 80 }, {}];

test.each(STEERING)("%j of an answer is shown without effect, and is the same JSON for programs", async (sign) => {
  world.answer("GET /tokens", [token(`a${sign}b`)]);

  for (const look of LOOKS) {
    const { stdout } = await world.line.run(["token", "list"], look);
    const asJson = await world.line.run(["token", "list", "--json"], look);

    expect(steeringIn(stdout)).toBeNull();
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(steeringIn(asJson.stdout)).toBeNull();
    expect(JSON.parse(asJson.stdout)).toEqual([token(`a${sign}b`)]);
  }
});

test.each(STEERING)("%j of a refusal is shown without effect, in message and details", async (sign) => {
  const details = [{ path: `body.a${sign}b`, message: `c${sign}d` }];
  world.refuse("GET /tokens", 400, "VALIDATION_ERROR", details, `e${sign}f`);

  for (const look of LOOKS) {
    const { stderr } = await world.line.run(["token", "list"], look);
    const asJson = await world.line.run(["token", "list", "--json"], look);

    expect(steeringIn(stderr)).toBeNull();
    expect(stderr.trimEnd().split("\n")).toHaveLength(2);
    expect(steeringIn(asJson.stderr)).toBeNull();
    expect(JSON.parse(asJson.stderr).error).toMatchObject({ message: `e${sign}f`, details });
  }
});

test("a colour of an answer's own is shown as text beside the command line's colours", async () => {
  world.answer("GET /tokens", [token("\u001b[31mred\u001b[39m")]);

  const { stdout } = await world.line.run(["token", "list"], { columns: 120 });

  expect(stdout).toContain("\\u001b[31mred\\u001b[39m");
  expect(stdout).toContain("\u001b[32mvalid");
});

test("a file that goes into a pipe keeps every byte, and a person who looks at it sees none that steers", async () => {
  const csv = `at,actor\r\n2026-11-20,"${EVIL}"\r\n`;
  const server = createServer((_, response) => response.end(csv));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const user = world.user({ BRIDGE_URL: url, BRIDGE_WORKSPACE: "ws_1", BRIDGE_TOKEN: "t" });

  const piped = await user.run(["audit", "--csv"]);
  const looked = await user.run(["audit", "--csv"], { columns: 80 });

  expect(piped.stdout).toBe(csv);
  expect(looked.stdout.startsWith("at,actor\n2026-11-20,")).toBe(true);
  expect(looked.stdout).not.toContain("\u001b");
});
