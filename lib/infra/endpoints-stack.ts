import { CfnOutput, Stack } from "aws-cdk-lib";
import { FunctionUrlAuthType, InvokeMode } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { CONSOLE, NO_SUCH_ENDPOINT, ROUTES, type Route, type RouteName } from "../http/routes.ts";
import type { Access } from "../model/resources.ts";
import type { BridgeFunction } from "./bridge-function.ts";
import type { Grantable } from "./grant-access.ts";
import { logGroupOf, makeFunction } from "./make-function.ts";
import type { Settings } from "./options/settings.ts";
import { STREAM_TIMEOUT_SECONDS } from "./rest-api.ts";

/** Below the gateway's 29 seconds, so that a slow function is ended, and logged, before its caller is. */
const API_TIMEOUT_SECONDS = 25;
const API_MEMORY_MEGABYTES = 512;

const METRICS: RouteName = "read-metrics";

/**
 * What answers requests: a function per row of the route table, and the second door to the metrics. The gateway before
 * them is a stack of its own, because each row costs it three resources more.
 */
export class EndpointsStack extends Stack {
  /** The rows that have a function, by name. */
  readonly answered: readonly RouteName[];
  /** The function behind every other path and method. */
  readonly otherwise: string | undefined;
  /** The function that serves the console. */
  readonly console: string | undefined;

  constructor(scope: Construct, settings: Settings, resources: Grantable, bundles: string) {
    super(scope, `Bridge-${settings.stage}-Endpoints`, {
      stackName: `Bridge-${settings.stage}-Endpoints`,
      description: `Bridge (${settings.stage}): what answers requests`,
    });
    const logGroup = logGroupOf(this, "api", settings);
    const surroundings = { settings, bundles, resources, logGroup };
    const sizing = { timeoutSeconds: API_TIMEOUT_SECONDS, memoryMegabytes: API_MEMORY_MEGABYTES };
    this.answered = (Object.keys(ROUTES) as RouteName[]).filter((name) => {
      const route: Route = ROUTES[name];
      const timeoutSeconds = route.streams ? STREAM_TIMEOUT_SECONDS : API_TIMEOUT_SECONDS;
      const by = makeFunction(this, { name, access: route, ...sizing, timeoutSeconds }, surroundings);
      if (by && name === METRICS) this.addMetricsUrl(route, by);
      return by !== undefined;
    });
    const make = (name: string, access: Access) =>
      makeFunction(this, { name, access, ...sizing }, surroundings) && name;
    this.otherwise = make("no-such-endpoint", NO_SUCH_ENDPOINT);
    this.console = make("console", CONSOLE.access);
  }

  /** The second door for scrapers; both permissions that a public URL needs come with it. */
  private addMetricsUrl(route: Route, by: BridgeFunction): void {
    const { url } = by.live.addFunctionUrl({
      authType: FunctionUrlAuthType.NONE,
      invokeMode: route.streams ? InvokeMode.RESPONSE_STREAM : InvokeMode.BUFFERED,
    });
    new CfnOutput(this, "MetricsUrl", { value: url, description: "What a metrics scraper reads, without a token" });
  }
}
