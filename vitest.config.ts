import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/memory-for-files.ts", "test/support/shared-postgres.ts"],
    setupFiles: ["test/support/watch-output.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
    // Much of the suite waits for real seconds, so two files at a time fill two cores and no more.
    maxWorkers: 2,
  },
});
