import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/run/temporary-folder.ts";
import { longTest } from "../support/run/whole-grid.ts";
import { STACKS } from "./assembly.ts";
import { typed } from "./typed.ts";

test("npx cdk list names the five stacks of dev", async () => {
  // Without the check against CloudFormation's rules, which takes nine seconds and which the next test pays for.
  const { status, stdout, stderr } = await typed(`npx cdk list --no-notices --output ${temporaryFolder()}`, {
    CDK_VALIDATION: "false",
  });

  expect(status, stderr).toBe(0);
  expect(stdout.trim().split("\n").sort()).toEqual(STACKS.map((name) => `Bridge-dev-${name}`).sort());
});

longTest(
  "npm run synth -- -c stage=prod -c alarms=none writes the five stacks of prod, none of them empty",
  async () => {
    const output = temporaryFolder();

    const { status, stderr } = await typed(`npm run synth -- -c stage=prod -c alarms=none --output ${output}`);

    expect(status, stderr).toBe(0);
    const { artifacts } = JSON.parse(readFileSync(join(output, "manifest.json"), "utf8")) as Manifest;
    const stacks = Object.entries(artifacts).filter(([, { type }]) => type === "aws:cloudformation:stack");
    expect(stacks.map(([name]) => name).sort()).toEqual(STACKS.map((name) => `Bridge-prod-${name}`).sort());
    for (const [name, { properties }] of stacks) {
      const template = JSON.parse(readFileSync(join(output, properties.templateFile), "utf8")) as { Resources: object };
      expect(Object.keys(template.Resources).length, name).toBeGreaterThan(20);
    }
  },
);

interface Manifest {
  readonly artifacts: Record<string, { readonly type: string; readonly properties: { readonly templateFile: string } }>;
}
