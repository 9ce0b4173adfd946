import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOSTS } from "./address-forms.ts";
import { HOLES } from "./holes.ts";
import { PARTS, type PartName } from "./parts.ts";
import { type Attacked, BRIEF, startAttacked } from "./world.ts";

let world: Attacked;
beforeAll(async () => {
  world = await startAttacked({ ...BRIEF, seed: 1 });
});
afterAll(() => world.close());

describe.each(Object.keys(PARTS) as PartName[])("the attack's part %s", (part) => {
  test("finds nothing", async () => {
    const { tried, findings } = await PARTS[part](world);

    expect(findings).toEqual([]);
    expect(tried).toBeGreaterThan(10);
  });

  test.each(HOLES.filter((one) => one.part === part))("finds a hole: $hole", async ({ open, close }) => {
    const holed = { ...world, ...(await open(world)) };
    try {
      expect((await PARTS[part](holed)).findings.length).toBeGreaterThan(0);
    } finally {
      await close?.(world);
    }
  });
});

test("each part of the attack finds the hole that is planted for it, and tries 465 forms of addresses or more", () => {
  expect(Object.keys(PARTS).filter((part) => !HOLES.some((hole) => hole.part === part))).toEqual([]);
  expect(new Set(HOSTS).size).toBeGreaterThanOrEqual(465);
});
