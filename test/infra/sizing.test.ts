import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { WORKERS } from "../../lib/model/resources.ts";

const SIZING = readFileSync(join(import.meta.dirname, "../../lib/infra/SIZING.md"), "utf8");

test("what the operator reads about the size of each worker is what is deployed, and has its reason", () => {
  const lines = Object.entries(WORKERS).map(([name, row]) =>
    [
      `| \`${name}\``,
      `${row.memoryMegabytes} MB`,
      `${row.timeoutSeconds} s`,
      row.maxConcurrency,
      row.batchSize,
      `${row.batchWindowSeconds} s |`,
    ].join(" | "),
  );

  expect(SIZING.match(/^\| `.* s \|$/gm)).toEqual(lines);
  const reasons = SIZING.split(/^## /m).slice(1).join();
  for (const name of Object.keys(WORKERS)) expect.soft(reasons).toContain(`\`${name}\``);
});
