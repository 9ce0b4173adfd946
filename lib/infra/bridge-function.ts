import { Duration } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  Alias,
  Architecture,
  CfnFunction,
  Code,
  type IFunction,
  type IVersion,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
} from "aws-cdk-lib/aws-lambda";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { baseUrlAt } from "./options/domain-option.ts";
import type { Network } from "./options/network.ts";
import { idOf, nameIn, type Settings } from "./options/settings.ts";

/** The alias of functions that are kept warm. */
export const LIVE = "live";

/** What Lambda needs to connect a function to a VPC (AWS, Giving Lambda functions access to a VPC). */
const NETWORK_ACTIONS = [
  "ec2:CreateNetworkInterface",
  "ec2:DescribeNetworkInterfaces",
  "ec2:DescribeSubnets",
  "ec2:DeleteNetworkInterface",
  "ec2:AssignPrivateIpAddresses",
  "ec2:UnassignPrivateIpAddresses",
];

interface BridgeFunctionProps {
  readonly name: string;
  /** The folder that holds this function's index.mjs. */
  readonly folder: string;
  readonly settings: Settings;
  readonly logGroup: LogGroup;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
  /** Why it may be called by messages that it causes itself, however often. */
  readonly resends?: string | undefined;
}

/**
 * One bundle as a Lambda function with a role of its own. What the role allows is in the role itself, so it holds
 * before anything can call the function, and costs no further resource of the stack's 500.
 */
export class BridgeFunction extends LambdaFunction {
  /** What to call: the function, or its alias `live` where that is kept warm. */
  readonly live: IFunction;
  readonly #policy: PolicyDocument;
  readonly #sentences = new Map<string, PolicyStatement>();

  constructor(scope: Construct, props: BridgeFunctionProps) {
    const { name, settings, logGroup } = props;
    // Left to itself the CDK orders what it merges by numbers that differ from run to run.
    const policy = new PolicyDocument({ minimize: false });
    const reserved = settings.concurrency.reserved.get(name);
    super(scope, idOf(name), {
      functionName: nameIn(settings.stage, name),
      code: Code.fromAsset(props.folder),
      handler: "index.handler",
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: Duration.seconds(props.timeoutSeconds),
      memorySize: props.memoryMegabytes,
      ...(props.resends && { recursiveLoop: RecursiveLoop.ALLOW, description: `RecursiveLoop: ${props.resends}` }),
      ...(reserved !== undefined && { reservedConcurrentExecutions: reserved }),
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      systemLogLevelV2: settings.platformLogs ? SystemLogLevel.INFO : SystemLogLevel.WARN,
      role: new Role(scope, `${idOf(name)}Role`, {
        assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
        inlinePolicies: { Access: policy },
      }),
      environment: {
        STAGE: settings.stage,
        ...(settings.rateLimitPerMinute !== null && { RATE_LIMIT_PER_MINUTE: String(settings.rateLimitPerMinute) }),
        ...settings.keptDays,
        ...(settings.domain && { BASE_URL: baseUrlAt(settings.domain) }),
      },
    });
    this.#policy = policy;
    this.allow(["logs:CreateLogStream", "logs:PutLogEvents"], [logGroup.logGroupArn]);
    if (settings.tracing) this.trace();
    this.live = this.kept(settings.concurrency.provisioned.get(name));
  }

  /** Runs in the operator's private network: reaches what its security groups let it, and the rest by its way out. */
  enter({ subnetIds, securityGroupIds, openedRanges, httpsProxy }: Network): void {
    this.template.vpcConfig = { subnetIds: [...subnetIds], securityGroupIds: [...securityGroupIds] };
    this.addEnvironment("OPENED_RANGES", openedRanges.join(","));
    if (httpsProxy !== null) {
      this.addEnvironment("HTTPS_PROXY", httpsProxy);
      this.addEnvironment("NODE_USE_ENV_PROXY", "1"); // for fetch, by which orgs are asked; the SDK of AWS does not read it
    }
    this.allow(NETWORK_ACTIONS, ["*"]); // Lambda's own interfaces, made and removed by it; IAM asks for every resource
  }

  /** The CDK's own switch would add a policy, and so a resource, to each function. */
  private trace(): void {
    this.template.tracingConfig = { mode: "Active" };
    this.allow(["xray:PutTraceSegments", "xray:PutTelemetryRecords"], ["*"]); // X-Ray knows no narrower resource
  }

  /** Kept warm are versions only, so an alias refers to the newest. */
  private kept(warm: number | undefined): IFunction {
    if (warm === undefined) return this;
    // The CDK's classes keep its interfaces, but do not say so as strictly as this project compiles.
    const version = this.currentVersion as IVersion;
    return new Alias(this, "Live", { aliasName: LIVE, version, provisionedConcurrentExecutions: warm }) as IFunction;
  }

  private get template(): CfnFunction {
    const { defaultChild } = this.node;
    if (defaultChild instanceof CfnFunction) return defaultChild;
    throw new Error(`${this.node.path} has no resource of its own`);
  }

  /** Adds to what this function may do: the same actions on more things are one sentence. */
  allow(
    actions: readonly string[],
    resources: readonly string[],
    conditions: PolicyStatement["conditions"] = {},
  ): void {
    const sentence = JSON.stringify([actions, conditions]);
    const said = this.#sentences.get(sentence);
    if (said) said.addResources(...resources);
    else {
      const statement = new PolicyStatement({ actions: [...actions], resources: [...resources], conditions });
      this.#sentences.set(sentence, statement);
      this.#policy.addStatements(statement);
    }
  }
}
