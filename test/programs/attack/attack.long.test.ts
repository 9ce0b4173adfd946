import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PARTS, type PartName } from "./parts.ts";
import { type Attacked, startAttacked, WHOLE } from "./world.ts";

/** `npm run attack` says what is asked of it, and where the figures go. */
const { seed, only, file } = JSON.parse(process.env["BRIDGE_ATTACK"] ?? "{}") as {
  readonly seed?: number;
  readonly only?: readonly PartName[];
  readonly file?: string;
};

const figures: Record<string, object> = {};
let world: Attacked;
beforeAll(async () => {
  world = await startAttacked({ ...WHOLE, seed: seed ?? 1 });
});
afterAll(async () => {
  await world.close();
});

test.each(only ?? (Object.keys(PARTS) as PartName[]))("the whole attack finds nothing: %s", async (part) => {
  const began = performance.now();
  const { tried, findings } = await PARTS[part](world);
  figures[part] = { tried, seconds: Math.round((performance.now() - began) / 100) / 10, findings };
  // After each part, for the whole may be stopped after ten minutes.
  if (file !== undefined) writeFileSync(file, JSON.stringify(figures));
  expect(findings).toEqual([]);
});
