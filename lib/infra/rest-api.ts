import { ArnFormat, Duration, Stack } from "aws-cdk-lib";
import {
  AccessLogFormat,
  EndpointType,
  LambdaIntegration,
  type LambdaIntegrationOptions,
  LogGroupLogDestination,
  type Resource,
  ResponseTransferMode,
  RestApi,
  type StageOptions,
} from "aws-cdk-lib/aws-apigateway";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Function as LambdaFunction } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { CONSOLE, ROUTES, type Route, type RouteName } from "../http/routes.ts";
import { LIVE } from "./bridge-function.ts";
import { addGatewayResponses } from "./gateway-responses.ts";
import { logGroupOf } from "./make-function.ts";
import { idOf, nameIn, type Settings } from "./options/settings.ts";

/** The rows of the route table that have a function, and the function behind everything else. */
interface Endpoints {
  readonly answered: readonly RouteName[];
  readonly otherwise: string | undefined;
  readonly console: string | undefined;
}

/** Longest time a streamed answer may take: what the gateway allows for streams, not the 29 s of others. */
export const STREAM_TIMEOUT_SECONDS = 300;

/**
 * The REST API: each row's method on its path, and behind everything else (`ANY` on each resource, `/{proxy+}`) the
 * function that answers 404, or 405 with `Allow`. A row that `streams` uses the gateway's response streaming, so its
 * answer has no size limit, flows at constant memory and may hold any bytes, and so does the console; all others are text.
 */
export function restApi(scope: Stack, settings: Settings, { answered, otherwise, console }: Endpoints): RestApi {
  const api = new RestApi(scope, "Api", {
    restApiName: nameIn(settings.stage, "api"),
    description: `Bridge (${settings.stage}): the API of the workspace sync service`,
    endpointTypes: [EndpointType.REGIONAL],
    // With a domain of one's own there is no second way in beside it.
    disableExecuteApiEndpoint: settings.domain !== null,
    deployOptions: {
      stageName: settings.stage,
      tracingEnabled: settings.tracing,
      throttlingRateLimit: settings.requestsPerSecond,
      throttlingBurstLimit: 2 * settings.requestsPerSecond,
      ...(settings.accessLog && accessLog(scope, settings)),
    },
    cloudWatchRole: settings.accessLog,
  });
  api.node.tryRemoveChild("Endpoint"); // its output repeats BaseUrl, with a slash at the end
  addGatewayResponses(api);
  const integrationOf = integrationsBy(scope, settings);
  for (const name of answered) {
    const route: Route = ROUTES[name];
    api.root.resourceForPath(route.path).addMethod(route.method, integrationOf(name, route));
  }
  if (console) serve(api, integrationOf(console, { streams: true }));
  if (otherwise) answerTheRest(api, integrationOf(otherwise));
  return api;
}

/** A line for each request, as JSON. */
function accessLog(scope: Stack, settings: Settings): Partial<StageOptions> {
  return {
    accessLogDestination: new LogGroupLogDestination(logGroupOf(scope, "access", settings)),
    accessLogFormat: AccessLogFormat.jsonWithStandardFields(),
  };
}

/** IAM takes 10,240 characters of inline policies a role, and the ARN of a function with a long stage has 110. */
const FUNCTIONS_OF_A_ROLE = 60;

/**
 * The gateway calls the functions under a few roles, which may call those and no other. A permission on each function
 * for each of its methods would say the same, for sixty resources more, and would need to know the API.
 */
function integrationsBy(
  scope: Construct,
  { stage, concurrency }: Settings,
): (name: string, row?: Pick<Route, "streams">) => LambdaIntegration {
  const callers: Caller[] = [];
  let functions = 0;
  return (name, row) => {
    const number = Math.floor(functions++ / FUNCTIONS_OF_A_ROLE);
    callers[number] ??= newCaller(scope, number + 1);
    const { role: credentialsRole, calls } = callers[number];
    const functionArn = Stack.of(scope).formatArn({
      service: "lambda",
      resource: "function",
      resourceName: concurrency.provisioned.has(name) ? `${nameIn(stage, name)}:${LIVE}` : nameIn(stage, name),
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    calls.addResources(functionArn);
    const target = LambdaFunction.fromFunctionAttributes(scope, idOf(name), { functionArn, skipPermissions: true });
    return new LambdaIntegration(target, { allowTestInvoke: false, credentialsRole, ...transferOf(row) });
  };
}

interface Caller {
  readonly role: Role;
  readonly calls: PolicyStatement;
}

function newCaller(scope: Construct, number: number): Caller {
  const calls = new PolicyStatement({ actions: ["lambda:InvokeFunction"] });
  const role = new Role(scope, number === 1 ? "CallerRole" : `CallerRole${number}`, {
    // No condition on the account: an API can only be given roles of its own account.
    assumedBy: new ServicePrincipal("apigateway.amazonaws.com"),
    inlinePolicies: { Call: new PolicyDocument({ statements: [calls] }) },
  });
  return { role, calls };
}

function transferOf(row?: Pick<Route, "streams">): LambdaIntegrationOptions {
  if (!row?.streams) return {};
  return {
    responseTransferMode: ResponseTransferMode.STREAM,
    timeout: Duration.seconds(STREAM_TIMEOUT_SECONDS),
  };
}

/** Streamed, because fonts and compressed scripts are bytes. */
function serve(api: RestApi, integration: LambdaIntegration): void {
  for (const path of CONSOLE.paths) {
    const resource = path === "/" ? api.root : api.root.resourceForPath(path);
    resource.addMethod(CONSOLE.method, integration);
  }
}

function answerTheRest(api: RestApi, integration: LambdaIntegration): void {
  api.root.addMethod("ANY", integration);
  for (const resource of resourcesOf(api)) resource.addMethod("ANY", integration);
  api.root.addResource("{proxy+}").addMethod("ANY", integration);
}

function resourcesOf(api: RestApi): Resource[] {
  return api.node
    .findAll()
    .filter((node): node is Resource => "addMethod" in node && "parentResource" in node && node !== api.root);
}

/** The contract's {base_url}: with the stage, without a slash at the end. */
export function baseUrlOf(api: RestApi): string {
  return api.urlForPath().replace(/\/$/, "");
}
