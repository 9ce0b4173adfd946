import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { EVIL, STEERING, steeringIn } from "../support/doubles/hostile-service.ts";
import { eachCliWorld } from "./world.ts";

const world = eachCliWorld();

const token = (name: string) => ({ id: "tok_1", name, owner: "ada@example.com", scopes: ["read"], state: "valid" });

test.each(STEERING)("%j of an answer or a refusal is shown without effect, and the same for programs", async (sign) => {
  for (const look of [{ columns: 80 }, {}]) {
    world.answer("GET /tokens", [token(`a${sign}b`)]);
    const { stdout } = await world.run("token list", look);
    const answer = await world.run("token list --json", look);
    const details = [{ path: `body.a${sign}b`, message: `c${sign}d` }];
    world.refuse("GET /tokens", 400, "VALIDATION_ERROR", details, `e${sign}f`);
    const { stderr } = await world.run("token list", look);
    const refusal = await world.run("token list --json", look);

    for (const text of [stdout, stderr, answer.stdout, refusal.stderr]) expect(steeringIn(text)).toBeNull();
    for (const text of [stdout, stderr]) expect(text.trimEnd().split("\n")).toHaveLength(2);
    expect(JSON.parse(answer.stdout)).toEqual([token(`a${sign}b`)]);
    expect(JSON.parse(refusal.stderr).error).toMatchObject({ message: `e${sign}f`, details });
  }
});

test("a colour of an answer's own is shown as text beside the command line's colours", async () => {
  world.answer("GET /tokens", [token("\u001b[31mred\u001b[39m")]);

  const { stdout } = await world.run("token list", { columns: 120 });

  expect(stdout).toContain("\\u001b[31mred\\u001b[39m");
  expect(stdout).toContain("\u001b[32mvalid");
});

test("a file that goes into a pipe keeps every byte, and a person who looks at it sees none that steers", async () => {
  const csv = `at,actor\r\n2026-11-20,"${EVIL}"\r\n`;
  const server = createServer((_, response) => response.end(csv));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const user = world.user({ ...world.signedIn, BRIDGE_URL: url });

  const piped = await user.run(["audit", "--csv"]);
  const looked = await user.run(["audit", "--csv"], { columns: 80 });

  expect(piped.stdout).toBe(csv);
  expect(looked.stdout.startsWith("at,actor\n2026-11-20,")).toBe(true);
  expect(looked.stdout).not.toContain("\u001b");
});
