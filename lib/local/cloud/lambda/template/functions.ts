import type { Assembly, Stack } from "./assembly.ts";
import type { Resolve } from "./resolve.ts";

/** A Lambda function as the templates define it. */
export interface LambdaFunction {
  /** The physical name: `bridge-dev-run-cycle`. */
  readonly name: string;
  readonly arn: string;
  /** The folder of its bundle. */
  readonly folder: string;
  /** `index.handler`: the module's file and its export. */
  readonly handler: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  readonly logGroup: string;
  /** May be called by its own consequences however often (`RecursiveLoop: Allow`). */
  readonly mayRecur: boolean;
  /** The ARN of the role that says what it may do. */
  readonly role: string;
}

interface FunctionProperties {
  readonly FunctionName?: string;
  readonly Code: { readonly S3Key: string };
  readonly Handler: string;
  readonly Role: string;
  readonly Timeout?: number;
  readonly MemorySize?: number;
  readonly Environment?: { readonly Variables?: Readonly<Record<string, string>> };
  readonly RecursiveLoop?: "Allow" | "Terminate";
  readonly LoggingConfig?: { readonly LogGroup?: string };
}

/** A resource of some type with its properties resolved, and its place. */
export interface Resolved<Properties> {
  readonly id: string;
  readonly stack: Stack;
  readonly properties: Properties;
}

/** Every resource of a type, of all stacks, with its properties resolved. */
export function resourcesOfType<Properties>(
  { stacks }: Pick<Assembly, "stacks">,
  resolve: Resolve,
  type: string,
): Resolved<Properties>[] {
  return stacks.flatMap((stack) =>
    Object.entries(stack.resources)
      .filter(([, { Type }]) => Type === type)
      .map(([id, { Properties = {} }]) => ({ id, stack, properties: resolve(stack, Properties) as Properties })),
  );
}

/** The functions of all stacks. */
export function readFunctions(assembly: Assembly, resolve: Resolve): LambdaFunction[] {
  return resourcesOfType<FunctionProperties>(assembly, resolve, "AWS::Lambda::Function").map(
    ({ id, stack, properties }) => ({
      name: properties.FunctionName ?? id,
      arn: String(resolve(stack, { "Fn::GetAtt": [id, "Arn"] })),
      folder: assembly.assetFolder(properties.Code.S3Key),
      handler: properties.Handler,
      environment: properties.Environment?.Variables ?? {},
      timeoutSeconds: properties.Timeout ?? 3,
      memoryMegabytes: properties.MemorySize ?? 128,
      logGroup: properties.LoggingConfig?.LogGroup ?? `/aws/lambda/${properties.FunctionName ?? id}`,
      mayRecur: properties.RecursiveLoop === "Allow",
      role: properties.Role,
    }),
  );
}

/** A function by its physical name, its ARN, or its row's name, which is the physical one without `bridge-<stage>-`. */
export function functionNamed(functions: readonly LambdaFunction[], name: string): LambdaFunction {
  const found = functions.find(
    (target) =>
      target.name === name || target.arn === name || target.name === `bridge-${target.environment["STAGE"]}-${name}`,
  );
  if (found) return found;
  throw new Error(`there is no function ${name}; there are ${functions.map((target) => target.name).join(", ")}`);
}
