import { configDefaults, defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/run/longest-first.ts";

const LONG = "test/**/*.long.test.ts";

/** The files of each tier; `npm run test:long` says which mode its parts take. */
const TIERS: Readonly<Record<string, { readonly include: string[]; readonly exclude: string[] }>> = {
  gate: { include: ["test/**/*.test.ts"], exclude: [...configDefaults.exclude, LONG] },
  long: { include: [LONG], exclude: configDefaults.exclude },
  all: { include: ["test/**/*.test.ts"], exclude: configDefaults.exclude },
};

export default defineConfig(({ mode }) => ({
  test: {
    ...(TIERS[mode] ?? TIERS["gate"]),
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
}));
