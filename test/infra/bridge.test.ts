import { App } from "aws-cdk-lib";
import { expect, test } from "vitest";
import { Bridge } from "../../lib/infra/bridge.ts";
import { temporaryFolder } from "../support/run/temporary-folder.ts";
import { bundleFixtures, type Resource, synthesizeFixtures } from "./assembly.ts";

test("the construct adds to an app of one's own what npm run deploy deploys, whatever that app's context says", async () => {
  const [bundles, deployed] = [await bundleFixtures(), await synthesizeFixtures()];
  const app = new App({ outdir: temporaryFolder(), context: { stage: "theirs", team: "payments" } });

  const { stacks } = new Bridge(app, "Sync", {}, bundles);

  const names = ["Data", "Workers", "Endpoints", "Api", "Alarms"].map((name) => `Bridge-dev-${name}`);
  expect(stacks.map(({ stackName }) => stackName)).toEqual(names);
  const made = app.synth().stacks.flatMap(({ template }) => {
    const { Resources } = template as { readonly Resources: Readonly<Record<string, Omit<Resource, "id">>> };
    return Object.entries(Resources).map(([id, { Type, Properties }]) => ({ id, Type, Properties }));
  });
  expect(made.length).toBe(Object.values(deployed.counts).reduce((sum, count) => sum + count, 0));
  for (const { id, Type, Properties } of made)
    expect(Properties, id).toEqual(deployed.all(Type).find((one) => one.id === id)?.Properties);
});

test.each([
  [{ stge: "prod" } as object, 'There is no option "stge": the nearest is -c stage='],
  [{ stage: "prod" }, "The alarms of prod notify no person"],
])("the construct refuses %o as the deployment does", (options, why) => {
  expect(() => new Bridge(new App(), "Sync", options)).toThrow(why);
});
