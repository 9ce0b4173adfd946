import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "../../lib/infra/build.ts";
import { synthesize } from "../../lib/infra/synthesize.ts";
import { madeOnce } from "../support/run/made-once.ts";
import { writeFunctions } from "./fixture-functions.ts";

/** One resource of a template, by its logical id. */
export interface Resource {
  readonly id: string;
  readonly Type: string;
  readonly Properties: Json;
  readonly DeletionPolicy?: string;
}

/** Anything that JSON can hold, to be walked down by name; what is found is turned with String() or Number(). */
export interface Json {
  readonly [name: string]: Json;
}

/** The templates of a stage, synthesized from functions that do next to nothing. */
export interface Assembly {
  /** Resources of a type, of all stacks. */
  readonly all: (type: string) => Resource[];
  /** The function of a row, by the row's name. */
  readonly functionOf: (name: string) => Resource;
  readonly environmentOf: (name: string) => Json;
  readonly roleOf: (name: string) => Resource | undefined;
  readonly outputs: Record<string, unknown>;
  /** Resources of each stack. */
  readonly counts: Record<string, number>;
  /** The stacks that must be deployed before each. */
  readonly before: Record<string, readonly string[]>;
}

export const CERTIFICATE = "arn:aws:acm:eu-central-1:123456789012:certificate/0a1b";
export const NETWORK = { subnetIds: "subnet-0a1b2c3d,subnet-4e5f6a7b", securityGroupIds: "sg-0a1b2c3d" };
export const TOPIC = "arn:aws:sns:eu-central-1:123456789012:operators";

/** What prod cannot be deployed without. */
export const PROD = { stage: "prod", alarmTopicArn: TOPIC };

/** Options of every kind at once, for all tests of them: a synthesis takes seconds. */
export const MANY_OPTIONS = {
  rateLimitPerMinute: "500",
  logRetentionDays: "365",
  deliveryDays: "7",
  auditDays: "90",
  tracing: "true",
  "@aws-cdk/core:permissionsBoundary": { name: "Boundary" },
  accessLog: "true",
  platformLogs: "true",
  requestsPerSecond: "50",
  tags: "Owner=ops,Cost Center=a/b",
  keyArn: "arn:aws:kms:eu-central-1:123456789012:key/0d1e",
  formerKeyArn: "arn:aws:kms:eu-central-1:123456789012:key/0d1d",
  alarmTopicArn: TOPIC,
  domainName: "bridge.example.com",
  certificateArn: CERTIFICATE,
  ...NETWORK,
  openedRanges: "10.0.0.0/16",
  httpsProxy: "http://proxy.internal:3128",
  shield: "true",
  reservedConcurrency: "run-cycle=50,list-mappings=5",
};

/** Fixture functions, synthesized with this context. */
export async function synthesizeFixtures(context: Record<string, unknown> = {}): Promise<Assembly> {
  const bundles = await bundleFixtures();
  const assembly = await madeOnce(`fixtures with ${JSON.stringify(context)}`, (outdir) =>
    synthesize({ bundles, outdir, context }),
  );
  return readAssembly(assembly, String(context["stage"] ?? "dev"));
}

/** The folder of the fixture functions' bundles. */
export async function bundleFixtures(): Promise<string> {
  const fixtures = await madeOnce("bundles of fixtures", async (folder) => {
    await build({ functions: writeFunctions(join(folder, "functions")), out: join(folder, "dist/functions") });
  });
  return join(fixtures, "dist/functions");
}

/** The stacks in the order in which they can be deployed. */
export const STACKS = ["Data", "Workers", "Endpoints", "Api", "Alarms"] as const;

function readAssembly(folder: string, stage: string): Assembly {
  const names = STACKS.map((name) => `Bridge-${stage}-${name}`);
  const templates = names.map((name) => readTemplate(folder, name));
  const resources = templates.flatMap(({ Resources }) =>
    Object.entries(Resources).map(([id, made]) => ({ ...made, id })),
  );
  const all = (type: string) => resources.filter(({ Type }) => Type === type);
  const functionOf = (name: string) => {
    const isNamed = ({ Properties }: Resource) => String(Properties["FunctionName"]) === `bridge-${stage}-${name}`;
    const made = all("AWS::Lambda::Function").find(isNamed);
    if (!made) throw new Error(`no function for ${name}`);
    return made;
  };
  return {
    ...{ all, functionOf },
    environmentOf: (name) => functionOf(name).Properties["Environment"]?.["Variables"] ?? {},
    roleOf: (name) => {
      const roleId = String(functionOf(name).Properties["Role"]?.["Fn::GetAtt"]?.[0]);
      return all("AWS::IAM::Role").find(({ id }) => id === roleId);
    },
    outputs: Object.assign({}, ...templates.map(({ Outputs }) => Outputs)),
    counts: Object.fromEntries(templates.map(({ Resources }, at) => [names[at], Object.keys(Resources).length])),
    before: dependenciesIn(folder, names),
  };
}

function dependenciesIn(folder: string, stacks: readonly string[]): Record<string, readonly string[]> {
  const { artifacts } = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest;
  const of = (stack: string) => artifacts[stack]?.dependencies ?? [];
  return Object.fromEntries(stacks.map((stack) => [stack, of(stack).filter((other) => stacks.includes(other))]));
}

interface Manifest {
  readonly artifacts: Record<string, { readonly dependencies?: readonly string[] }>;
}

interface Template {
  readonly Resources: Record<string, Omit<Resource, "id">>;
  readonly Outputs?: Record<string, unknown>;
}

function readTemplate(folder: string, name: string): Template {
  return JSON.parse(readFileSync(join(folder, `${name}.template.json`), "utf8")) as Template;
}
