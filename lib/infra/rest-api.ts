import { Duration } from "aws-cdk-lib";
import {
  EndpointType,
  LambdaIntegration,
  type LambdaIntegrationOptions,
  type Resource,
  ResponseTransferMode,
  RestApi,
} from "aws-cdk-lib/aws-apigateway";
import type { Construct } from "constructs";
import type { Route } from "../http/routes.ts";
import type { BridgeFunction } from "./bridge-function.ts";
import { addGatewayResponses } from "./gateway-responses.ts";
import { nameIn, type Settings } from "./settings.ts";

/** A row of the route table with the function that answers it. */
interface Answered {
  readonly route: Route;
  readonly by: BridgeFunction;
}

/** Longest time a streamed answer may take: what the gateway allows for streams, not the 29 s of others. */
export const STREAM_TIMEOUT_SECONDS = 300;

/**
 * The REST API: each row's method on its path, and behind everything else (`ANY` on each resource, `/{proxy+}`) the
 * function that answers 404, or 405 with `Allow`. A row that `streams` uses the gateway's response streaming, so its
 * answer has no size limit, flows at constant memory and may hold any bytes; all other answers are text.
 */
export function restApi(
  scope: Construct,
  settings: Settings,
  answered: readonly Answered[],
  otherwise?: BridgeFunction,
): RestApi {
  const api = new RestApi(scope, "Api", {
    restApiName: nameIn(settings.stage, "api"),
    description: `Bridge (${settings.stage}): the API of the workspace sync service`,
    endpointTypes: [EndpointType.REGIONAL],
    deployOptions: { stageName: settings.stage, tracingEnabled: settings.tracing },
    cloudWatchRole: false,
  });
  api.node.tryRemoveChild("Endpoint"); // its output repeats BaseUrl, with a slash at the end
  addGatewayResponses(api);
  for (const { route, by } of answered) {
    api.root.resourceForPath(route.path).addMethod(route.method, new LambdaIntegration(by, transferOf(route)));
  }
  if (otherwise) answerTheRest(api, otherwise);
  return api;
}

function transferOf({ streams }: Route): LambdaIntegrationOptions {
  if (!streams) return { allowTestInvoke: false };
  return {
    allowTestInvoke: false,
    responseTransferMode: ResponseTransferMode.STREAM,
    timeout: Duration.seconds(STREAM_TIMEOUT_SECONDS),
  };
}

function answerTheRest(api: RestApi, otherwise: BridgeFunction): void {
  // One permission for the whole API instead of one for each of its resources.
  const integration = new LambdaIntegration(otherwise, { scopePermissionToMethod: false });
  api.root.addMethod("ANY", integration);
  for (const resource of resourcesOf(api)) resource.addMethod("ANY", integration);
  api.root.addResource("{proxy+}").addMethod("ANY", integration);
}

function resourcesOf(api: RestApi): Resource[] {
  return api.node
    .findAll()
    .filter((node): node is Resource => "addMethod" in node && "parentResource" in node && node !== api.root);
}

/** The spec's {base_url}: with the stage, without a slash at the end. */
export function baseUrlOf(api: RestApi): string {
  return api.urlForPath().replace(/\/$/, "");
}
