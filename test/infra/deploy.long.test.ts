import { expect, test } from "vitest";
import { hasMoto, startAws } from "../support/processes/aws.ts";
import { temporaryFolder } from "../support/run/temporary-folder.ts";
import { STACKS } from "./assembly.ts";
import { typed } from "./typed.ts";

const NAMES = STACKS.map((name) => `Bridge-dev-${name}`).sort();

// Moto has no model of gateway responses, API stages, function URLs, queue policies, alarms and schedules in a stack:
// it leaves them out, as it says of each. That they are right is the business of the tests of the templates.
test("an account is prepared, Bridge deployed, deployed again without a difference, and removed", async () => {
  expect(hasMoto(), "this test needs moto_server: pip install 'moto[server]'").toBe(true);
  await using aws = await startAws();
  const output = temporaryFolder();
  const shell = (command: string) => typed(`${command} --output ${output}`, aws.environment);

  const bootstrapped = await shell("npx cdk bootstrap --no-notices");
  const first = await shell("npm run deploy -- --require-approval never");
  const stacks = stacksIn(await aws.cloudFormation("DescribeStacks"));
  const second = await shell("npm run deploy -- --require-approval never");
  const destroyed = await shell("npx cdk destroy --all --force -c stage=dev --no-notices");
  const left = stacksIn(await aws.cloudFormation("DescribeStacks"));

  expect(bootstrapped.status, bootstrapped.stderr).toBe(0);
  expect(first.status, first.stderr).toBe(0);
  expect(stacks).toEqual([...NAMES, "CDKToolkit"].sort());
  expect(first.stderr).not.toContain("(no changes)");
  expect(second.status, second.stderr).toBe(0);
  expect([...second.stderr.matchAll(/(\S+) \(no changes\)/g)].map(([, name]) => name).sort()).toEqual(NAMES);
  expect(destroyed.status, destroyed.stderr).toBe(0);
  expect(left).toEqual(["CDKToolkit"]);
});

function stacksIn(xml: string): string[] {
  const found = xml.matchAll(/<StackName>([^<]+)<\/StackName>.*?<StackStatus>(?:CREATE|UPDATE)_COMPLETE</gs);
  return [...found].map(([, name = ""]) => name).sort();
}
