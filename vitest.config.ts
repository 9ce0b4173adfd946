import { configDefaults, defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/run/longest-first.ts";

const LONG = "test/**/*.long.test.ts";

/** Long test files that are parts of their own in `npm run test:long`. */
const PARTS = ["browser/**", "programs/attack/**", "docs/receivers.*"].map((files) => `test/${files}`);

/** Test files that leave nothing behind in their process: no variable, no server, no adapter that is opened once. */
const TIDY = [
  "access/{rate-limit,token}",
  "adapters/salesforce/**/!(*.long)",
  "{audit,console,health,infra,model}/**/!(*.long)",
  "contracts/{dynamodb,kms,scheduler,sqs}",
  "http/{body,described,openapi,site}",
  "local/{bounded-log,clock,data-format,folder-lock,full-disk,function-log}",
  "local/org/**/!(*.long)",
  "metrics/{alerts,exposition,promtool}",
  "programs/{bench,prove}/**/!(*.long)",
  "webhooks/{delivery,own-address,sign}",
].map((files) => `test/${files}.test.ts`);

/** Node itself strips the types, where no module is mocked. */
const NODE_LOADS = { viteModuleRunner: false, nodeLoader: false };

/** The files of each tier; `npm run test:long` says which mode its parts take. */
function filesOf(mode: string): { readonly include: string[]; readonly exclude: string[] } {
  if (mode === "long") return { include: [LONG], exclude: [] };
  if (mode === "rest") return { include: [LONG], exclude: PARTS };
  return { include: ["test/**/*.test.ts"], exclude: mode === "all" ? [] : [LONG] };
}

export default defineConfig(({ mode }) => {
  const { include, exclude } = filesOf(mode);
  return {
    test: {
      projects: [
        {
          extends: true,
          test: { name: "alone", include, exclude: [...configDefaults.exclude, ...exclude, ...TIDY] },
        },
        // Their files share processes, so that each starts, and imports what they have in common, once for all of them.
        ...(mode === "long" || mode === "rest"
          ? []
          : [{ extends: true, test: { name: "together", include: TIDY, isolate: false, experimental: NODE_LOADS } }]),
      ],
      globalSetup: ["memory-for-files", "shared-folder", "shared-postgres"].map(
        (name) => `test/support/run/${name}.ts`,
      ),
      setupFiles: ["watch-output", "keep-compiled"].map((name) => `test/support/run/${name}.ts`),
      // Only a hang reaches these limits: on a busy machine a test takes twenty times as long, which is no failure.
      testTimeout: 1_800_000,
      hookTimeout: 1_800_000,
      expect: { poll: { timeout: 300_000 } },
      // The CDK would check each template against CloudFormation's rules for seconds, and only warn. A deploy does.
      env: { CDK_VALIDATION: "false" },
      pool: "forks",
      // The bundles, which Vite would transform again for every file that runs them.
      server: { deps: { external: [/\/index\.mjs(\?|$)/] } },
      sequence: { sequencer: LongestFirst },
      // Much of the suite waits for real seconds, so two files at a time fill two cores and no more.
      maxWorkers: 2,
    },
  };
});
