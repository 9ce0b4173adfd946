import type { Assembly, Stack, TemplateResource } from "./assembly.ts";

/** The account and region that the stacks are resolved for. */
export interface Place {
  readonly region: string;
  readonly accountId: string;
  /** The URL of a queue by its name. */
  readonly queueUrl: (name: string) => string;
  /** The ARN of the key behind an alias. */
  readonly keyArn: (alias: string) => string;
}

/** Gives a value of a template with everything in it resolved that CloudFormation would resolve. */
export type Resolve = (stack: Stack, value: unknown) => unknown;

/** Resolves references inside and between the stacks. Throws at functions and resources that it does not know. */
export function createResolver({ stacks }: Pick<Assembly, "stacks">, place: Place): Resolve {
  const resolveIn: Resolve = (stack, value) => {
    if (Array.isArray(value)) return value.map((item) => resolveIn(stack, item)).filter((item) => item !== NO_VALUE);
    if (value === null || typeof value !== "object") return value;
    const entries = Object.entries(value);
    const [only] = entries;
    if (entries.length === 1 && only && isFunction(only[0])) return call(stack, only[0], only[1]);
    const resolved = entries.map(([name, item]) => [name, resolveIn(stack, item)] as const);
    return Object.fromEntries(resolved.filter(([, item]) => item !== NO_VALUE));
  };

  const call = (stack: Stack, name: string, given: unknown): unknown => {
    if (name === "Ref") return refOf(stack, String(given));
    if (name === "Fn::GetAtt") return attributeOf(stack, given);
    if (name === "Fn::Sub") return substituted(stack, given);
    const value = resolveIn(stack, given);
    if (name === "Fn::Join") return joined(value);
    if (name === "Fn::Select") return (value as [string, unknown[]])[1][Number((value as [string])[0])];
    if (name === "Fn::Split") return String((value as string[])[1]).split(String((value as string[])[0]));
    if (name === "Fn::ImportValue") return exported(String(value));
    if (name === "Fn::GetStackOutput") return outputOf(value as { StackName: string; OutputName: string });
    throw new Error(`${stack.name} uses ${name}, which the local host does not know`);
  };

  const refOf = (stack: Stack, name: string): unknown => {
    if (name.startsWith("AWS::")) return pseudoParameter(stack, name);
    const { type, properties } = resourceOf(stack, name);
    if (type === "AWS::SQS::Queue") return place.queueUrl(text(properties["QueueName"], stack, name));
    if (type === "AWS::KMS::Key") return place.keyArn(aliasOf(stack, name)).split("/").at(-1);
    return NAMED_BY[type]?.map((property) => properties[property]).find((value) => value !== undefined) ?? name;
  };

  const attributeOf = (stack: Stack, given: unknown): unknown => {
    const [name = "", attribute = ""] = Array.isArray(given) ? given.map(String) : String(given).split(/\.(.*)/s);
    const { type } = resourceOf(stack, name);
    if (attribute === "QueueName" && type === "AWS::SQS::Queue") return resourceOf(stack, name).properties["QueueName"];
    if (attribute === "RootResourceId" && type === "AWS::ApiGateway::RestApi") return `${name}/`;
    const arn = ARNS[type];
    if (attribute !== "Arn" || !arn) {
      throw new Error(`${stack.name} asks for ${attribute} of ${name}, a ${type}, which the local host does not have`);
    }
    return arn(
      String(type === "AWS::SQS::Queue" ? resourceOf(stack, name).properties["QueueName"] : refOf(stack, name)),
    );
  };

  const aliasOf = (stack: Stack, key: string): string => {
    const aliases = Object.values(stack.resources).filter(({ Type }) => Type === "AWS::KMS::Alias");
    const alias = aliases.find(({ Properties }) => JSON.stringify(Properties?.["TargetKeyId"]).includes(`"${key}"`));
    return text(resolveIn(stack, alias?.Properties?.["AliasName"]), stack, key);
  };

  const resourceOf = (stack: Stack, name: string): { type: string; properties: Record<string, unknown> } => {
    const resource: TemplateResource | undefined = stack.resources[name];
    if (!resource) throw new Error(`${stack.name} refers to ${name}, which it does not define`);
    const names = new Set(["QueueName", ...(NAMED_BY[resource.Type] ?? [])]);
    const properties = Object.entries(resource.Properties ?? {}).filter(([property]) => names.has(property));
    return {
      type: resource.Type,
      properties: resolveIn(stack, Object.fromEntries(properties)) as Record<string, unknown>,
    };
  };

  const substituted = (stack: Stack, given: unknown): string => {
    const [template, own] = Array.isArray(given) ? (given as [string, Record<string, unknown>]) : [String(given), {}];
    return template.replace(/\$\{(!?)([^}]+)\}/g, (_, literal: string, name: string) => {
      if (literal) return `\${${name}}`;
      if (Object.hasOwn(own, name)) return String(resolveIn(stack, own[name]));
      return String(name.includes(".") ? attributeOf(stack, name) : refOf(stack, name));
    });
  };

  const pseudoParameter = (stack: Stack, name: string): unknown => {
    const known: Record<string, unknown> = {
      "AWS::Region": place.region,
      "AWS::AccountId": place.accountId,
      "AWS::Partition": "aws",
      "AWS::URLSuffix": "amazonaws.com",
      "AWS::StackName": stack.name,
      "AWS::NoValue": NO_VALUE,
    };
    if (!Object.hasOwn(known, name)) throw new Error(`${stack.name} uses ${name}, which the local host does not know`);
    return known[name];
  };

  const exported = (name: string): unknown => {
    for (const stack of stacks) {
      for (const { Value, Export } of Object.values(stack.outputs)) {
        if (Export && resolveIn(stack, Export.Name) === name) return resolveIn(stack, Value);
      }
    }
    throw new Error(`no stack exports ${name}`);
  };

  const outputOf = ({ StackName, OutputName }: { StackName: string; OutputName: string }): unknown => {
    const stack = stacks.find(({ name }) => name === StackName);
    const output = stack?.outputs[OutputName];
    if (!stack || !output) throw new Error(`no stack ${StackName} has an output ${OutputName}`);
    return resolveIn(stack, output.Value);
  };

  const arnOf = (service: string, rest: string): string =>
    `arn:aws:${service}:${place.region}:${place.accountId}:${rest}`;
  const ARNS: Readonly<Record<string, (name: string) => string>> = {
    "AWS::DynamoDB::Table": (name) => arnOf("dynamodb", `table/${name}`),
    "AWS::SQS::Queue": (name) => arnOf("sqs", name),
    "AWS::KMS::Key": (name) => arnOf("kms", `key/${name}`),
    "AWS::Lambda::Function": (name) => arnOf("lambda", `function:${name}`),
    "AWS::Logs::LogGroup": (name) => arnOf("logs", `log-group:${name}:*`),
    "AWS::Scheduler::ScheduleGroup": (name) => arnOf("scheduler", `schedule-group/${name}`),
    "AWS::IAM::Role": (name) => `arn:aws:iam::${place.accountId}:role/${name}`,
  };

  return resolveIn;
}

/** `AWS::NoValue`: the property that holds it is left out. */
const NO_VALUE = Symbol("AWS::NoValue");

/** The property that `Ref` gives, by type; without a name of its own a resource is known by its logical id. */
const NAMED_BY: Readonly<Record<string, readonly string[]>> = {
  "AWS::DynamoDB::Table": ["TableName"],
  "AWS::Lambda::Function": ["FunctionName"],
  "AWS::Logs::LogGroup": ["LogGroupName"],
  "AWS::Scheduler::ScheduleGroup": ["Name"],
  "AWS::Scheduler::Schedule": ["Name"],
  "AWS::IAM::Role": ["RoleName"],
  "AWS::ApiGateway::Stage": ["StageName"],
};

const isFunction = (name: string): boolean => name === "Ref" || name.startsWith("Fn::");

function joined(value: unknown): string {
  const [separator, parts] = value as [string, unknown[]];
  return parts.map(String).join(separator);
}

function text(value: unknown, stack: Stack, name: string): string {
  if (typeof value === "string") return value;
  throw new Error(`${name} of ${stack.name} needs a name of its own to exist on one machine`);
}
