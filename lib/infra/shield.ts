import { Stack } from "aws-cdk-lib";
import type { RestApi } from "aws-cdk-lib/aws-apigateway";
import { CfnWebACL, CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import type { Construct } from "constructs";
import { RINGS_PER_MINUTE, ROUTES } from "../http/routes.ts";
import { GATEWAY_REFUSALS, inEnvelope } from "./gateway-responses.ts";
import type { Shield } from "./options/shield-option.ts";
import { nameIn, type Settings } from "./settings.ts";

/** The contract's limit, which the functions count exactly. */
const REQUESTS_PER_MINUTE = 300;

/** Puts a web application firewall before the API's stage. */
export function addShield(scope: Construct, api: RestApi, shield: Shield, settings: Settings): void {
  const { stageName } = api.deploymentStage;
  new CfnWebACLAssociation(scope, "Shield", {
    webAclArn: shield.webAclArn ?? floodGate(scope, settings).attrArn,
    resourceArn: Stack.of(scope).formatArn({
      service: "apigateway",
      account: "",
      resource: "/restapis",
      resourceName: `${api.restApiId}/stages/${stageName}`,
    }),
  });
}

/**
 * Turns floods away before they cost a call of a function. WAF counts roughly and late, so it begins at twice the
 * limit: a client that keeps the contract's is never refused by it. Scrapers of the metrics are not counted, as in the
 * functions, and nudges and rings have limits of their own.
 */
function floodGate(scope: Construct, { stage, rateLimitPerMinute }: Settings): CfnWebACL {
  const [, code, message] = GATEWAY_REFUSALS.THROTTLED;
  const name = nameIn(stage, "shield");
  const nudges = pathMatches("/nudge$");
  // After the stage's name where the API has no domain of its own, and nowhere else: any path may hold these letters.
  const rings = pathMatches("^(/[^/]+)?/ring/");
  const limit = rateLimitPerMinute ?? REQUESTS_PER_MINUTE;
  const others = [pathMatches("/api/metrics$"), nudges, rings];
  return new CfnWebACL(scope, "FloodGate", {
    name,
    scope: "REGIONAL",
    defaultAction: { allow: {} },
    visibilityConfig: metricOf(name),
    customResponseBodies: { refused: { contentType: "APPLICATION_JSON", content: inEnvelope(code, message) } },
    rules: [
      { name: "flood", ...beyond(limit, { notStatement: { statement: { orStatement: { statements: others } } } }) },
      { name: "nudges", ...beyond(ROUTES.nudge.perMinute ?? limit, nudges) },
      { name: "rings", ...beyond(RINGS_PER_MINUTE, rings) },
    ].map((rule, priority) => ({ ...rule, priority, visibilityConfig: metricOf(`${name}-${rule.name}`) })),
  });
}

const metricOf = (metricName: string) => ({
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: false,
  metricName,
});

/** Refuses an address that makes more than twice as many of these requests in a minute. */
const beyond = (perMinute: number, scopeDownStatement: CfnWebACL.StatementProperty) => ({
  action: {
    block: {
      customResponse: {
        responseCode: GATEWAY_REFUSALS.THROTTLED[0],
        customResponseBodyKey: "refused",
        responseHeaders: [{ name: "Retry-After", value: "60" }],
      },
    },
  },
  statement: {
    rateBasedStatement: {
      aggregateKeyType: "IP",
      evaluationWindowSec: 60,
      limit: 2 * perMinute,
      scopeDownStatement,
    },
  },
});

function pathMatches(regexString: string): CfnWebACL.StatementProperty {
  return {
    regexMatchStatement: {
      fieldToMatch: { uriPath: {} },
      regexString,
      textTransformations: [{ priority: 0, type: "NONE" }],
    },
  };
}
