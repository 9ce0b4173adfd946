import { globSync, readFileSync } from "node:fs";
import { configDefaults, defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/run/longest-first.ts";

const LONG = "test/**/*.long.test.ts";

/** Test files of the gate that have more in them than the gate runs. */
const GRIDS = globSync("test/**/*.test.ts").filter((file) => readFileSync(file, "utf8").includes("run/whole-grid.ts"));

/** Long test files that are parts of their own in `npm run test:long`. */
const PARTS = ["browser/**", "programs/attack/attack.*", "docs/receivers.*"].map((files) => `test/${files}`);

/** Test files that replace a module, for as long as their process lives. */
const MOCKING = ["sync/push/{apex-limits,bulk-push,org-refusals,refusing-rows}"];

/** Test files that run the deployment's bundles, whose variables their process has. */
const RUNNING = [
  ...["access/remove-workspace", "conformance/*", "journeys/*", "sync/beat/sweep-grants", "webhooks/{crash,guarded}"],
];

/** Test files that measure the heap of their process, or leave in it what others would find. */
const MEASURING = ["access/{reseal,secrets}", "adapters/whole-answers", "http/access"];

/** Test files that need a process of their own. */
const ALONE = [...MOCKING, ...RUNNING, ...MEASURING, "**/*.long"].map((files) => `test/${files}.test.ts`);

/** Node itself strips the types, where no module is mocked. */
const NODE_LOADS = { viteModuleRunner: false, nodeLoader: false };

/** The files of each tier: of the gate; `long` and `rest`, what is not in the gate; `all`. */
function filesOf(mode: string) {
  const { exclude } = configDefaults;
  if (mode === "long") return { alone: [LONG, ...GRIDS], together: [], exclude };
  if (mode === "rest") return { alone: [LONG, ...GRIDS], together: [], exclude: [...exclude, ...PARTS] };
  const files = { alone: ALONE, together: ["test/**/*.test.ts"] };
  return { ...files, exclude: mode === "all" ? exclude : [...exclude, LONG] };
}

export default defineConfig(({ mode }) => {
  const { alone, together, exclude } = filesOf(mode);
  const isGate = mode === "test";
  return {
    test: {
      projects: [
        { extends: true, test: { name: "alone", include: alone, exclude } },
        // Their files share processes, so that each starts, and imports what they have in common, once for all of them.
        {
          extends: true,
          test: {
            name: "together",
            include: together,
            exclude: [...exclude, ...ALONE],
            isolate: false,
            experimental: NODE_LOADS,
          },
        },
      ],
      globalSetup: ["memory-for-files", "shared-folder", "shared-postgres"].map(
        (name) => `test/support/run/${name}.ts`,
      ),
      setupFiles: ["answer-whole", "leave-nothing", "watch-output", "measure-cost"].map(
        (name) => `test/support/run/${name}.ts`,
      ),
      // Only a hang reaches these limits: on a busy machine a test takes twenty times as long, which is no failure.
      testTimeout: 1_800_000,
      hookTimeout: 1_800_000,
      expect: { poll: { timeout: 300_000 } },
      // The CDK would check each template against CloudFormation's rules for seconds, and only warn. A deploy does.
      env: { CDK_VALIDATION: "false", ...(!isGate && { WHOLE_GRID: "yes" }) },
      pool: "forks",
      // The bundles, which Vite would transform again for every file that runs them.
      server: { deps: { external: [/\/index\.mjs(\?|$)/] } },
      sequence: { sequencer: LongestFirst },
      // Much of the suite waits for real seconds, so two files at a time fill two cores and no more.
      maxWorkers: 2,
    },
  };
});
