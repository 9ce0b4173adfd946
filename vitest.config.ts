import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/run/longest-first.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["memory-for-files", "shared-folder", "shared-postgres"].map((name) => `test/support/run/${name}.ts`),
    setupFiles: ["test/support/run/watch-output.ts"],
    // Only a hang reaches these limits: on a busy machine a test takes twenty times as long, which is no failure.
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
    expect: { poll: { timeout: 300_000 } },
    pool: "forks",
    sequence: { sequencer: LongestFirst },
    // Much of the suite waits for real seconds, so two files at a time fill two cores and no more.
    maxWorkers: 2,
  },
});
