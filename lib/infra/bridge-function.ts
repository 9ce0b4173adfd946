import { Duration } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  Architecture,
  CfnFunction,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
} from "aws-cdk-lib/aws-lambda";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { idOf, nameIn, type Settings } from "./settings.ts";

interface BridgeFunctionProps {
  readonly name: string;
  /** The folder that holds this function's index.mjs. */
  readonly folder: string;
  readonly settings: Settings;
  readonly logGroup: LogGroup;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  /** Why it may be called by messages on whose way it stands itself, however often. */
  readonly resends?: string | undefined;
}

/**
 * One bundle as a Lambda function with a role of its own. What the role allows stands in the role itself, so it holds
 * before anything can call the function, and costs no further resource of the stack's 500.
 */
export class BridgeFunction extends LambdaFunction {
  readonly #policy: PolicyDocument;

  constructor(scope: Construct, props: BridgeFunctionProps) {
    const { name, settings, logGroup } = props;
    const policy = new PolicyDocument();
    super(scope, idOf(name), {
      functionName: nameIn(settings.stage, name),
      code: Code.fromAsset(props.folder),
      handler: "index.handler",
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: Duration.seconds(props.timeoutSeconds),
      memorySize: props.memoryMegabytes,
      ...(props.resends && { recursiveLoop: RecursiveLoop.ALLOW, description: `RecursiveLoop: ${props.resends}` }),
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      role: new Role(scope, `${idOf(name)}Role`, {
        assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
        inlinePolicies: { Access: policy },
      }),
      environment: {
        STAGE: settings.stage,
        ...(settings.rateLimitPerMinute !== null && { RATE_LIMIT_PER_MINUTE: String(settings.rateLimitPerMinute) }),
      },
    });
    this.#policy = policy;
    this.allow(["logs:CreateLogStream", "logs:PutLogEvents"], [logGroup.logGroupArn]);
    if (settings.tracing) this.trace();
  }

  /** The CDK's own switch would add a policy, and so a resource, to each function. */
  private trace(): void {
    const { defaultChild } = this.node;
    if (defaultChild instanceof CfnFunction) defaultChild.tracingConfig = { mode: "Active" };
    this.allow(["xray:PutTraceSegments", "xray:PutTelemetryRecords"], ["*"]); // X-Ray knows no narrower resource
  }

  /** Adds one sentence to what this function may do. */
  allow(
    actions: readonly string[],
    resources: readonly string[],
    conditions: PolicyStatement["conditions"] = {},
  ): void {
    this.#policy.addStatements(new PolicyStatement({ actions: [...actions], resources: [...resources], conditions }));
  }
}
