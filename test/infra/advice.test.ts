import { AwsSolutionsChecks } from "cdk-nag";
import { expect } from "vitest";
import { createApp } from "../../lib/infra/synthesize.ts";
import { temporaryFolder } from "../support/run/temporary-folder.ts";
import { longTest } from "../support/run/whole-grid.ts";
import { bundleFixtures, PROD } from "./assembly.ts";

/** What cdk-nag finds and why it stays, by rule; IAM5 by the wildcard. */
const ANSWERS: readonly (readonly [finding: RegExp, reason: string])[] = [
  [
    /^AwsSolutions-IAM5\[Resource::.*Table.*\/index\/\*\]$/,
    "the indexes of a table that the function may read as a whole",
  ],
  [/^AwsSolutions-IAM5\[Resource::.*:schedule\/bridge-dev\/\*\]$/, "one schedule a mapping, in the stage's own group"],
  [
    /^AwsSolutions-IAM5\[Resource::\*\]$/,
    "scheduler:ListSchedules and Lambda's network interfaces, for which IAM knows no narrower resource",
  ],
  [
    /^AwsSolutions-IAM5\[Resource::arn:.*:secretsmanager:.*:secret:\*\]$/,
    "a customer's own secrets, of any name, and of these only the ones whose tag names a workspace",
  ],
  [/^AwsSolutions-APIG1$/, "every request leaves a line in its function's log; a second log would be paid twice"],
  [
    /^AwsSolutions-APIG2$/,
    "the functions validate: the envelope and its details are the contract's, not the gateway's",
  ],
  [/^AwsSolutions-APIG3$/, "a WAF costs more a month than an idle service; rate limit and tokens protect it"],
  [/^AwsSolutions-APIG4$/, "the contract's own bearer tokens are checked in the function, which answers by its codes"],
  [/^AwsSolutions-APIG6$/, "as APIG1; execution logs would hold customers' data besides"],
  [/^AwsSolutions-COG4$/, "as APIG4: callers are programs with tokens, not people in a user pool"],
];

const EVERY_OPTION = {
  domainName: "bridge.example.com",
  certificateArn: "arn:aws:acm:eu-central-1:123456789012:certificate/0a1b",
  subnetIds: "subnet-0a1b2c3d",
  securityGroupIds: "sg-0a1b2c3d",
  openedRanges: "10.0.0.0/16",
  provisionedConcurrency: "list-mappings=1",
};

longTest.each([{ stage: "dev" }, PROD, { stage: "dev", ...EVERY_OPTION }])(
  "whatever AWS advises against with %j is fixed, or stays for a written reason",
  async (context) => {
    const app = createApp({ bundles: await bundleFixtures(), outdir: temporaryFolder(), context });
    app.synth();

    const { violations } = new AwsSolutionsChecks(app).validateScope(app);
    const findings = violations.map(({ ruleName }) => ruleName.replaceAll("bridge-prod", "bridge-dev"));

    expect(findings.filter((finding) => !ANSWERS.some(([answered]) => answered.test(finding)))).toEqual([]);
    expect(ANSWERS.filter(([answered]) => !findings.some((finding) => answered.test(finding)))).toEqual([]);
  },
);
