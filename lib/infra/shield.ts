import { Stack } from "aws-cdk-lib";
import type { RestApi } from "aws-cdk-lib/aws-apigateway";
import { CfnWebACL, CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import type { Construct } from "constructs";
import { RINGS_PER_MINUTE, ROUTES, type Route } from "../http/routes.ts";
import { GATEWAY_REFUSALS, inEnvelope } from "./gateway-responses.ts";
import { nameIn, type Settings } from "./options/settings.ts";
import type { Shield } from "./options/shield-option.ts";

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
function floodGate(scope: Construct, { stage, domain, rateLimitPerMinute }: Settings): CfnWebACL {
  const [, code, message] = GATEWAY_REFUSALS.THROTTLED;
  const name = nameIn(stage, "shield");
  const before = [stage, ...(domain?.basePath ? [domain.basePath] : [])];
  const nudges = isOf(ROUTES.nudge, before);
  const rings = isOf(ROUTES.ring, before);
  const limit = rateLimitPerMinute ?? REQUESTS_PER_MINUTE;
  const others = [isOf(ROUTES["read-metrics"], before), nudges, rings];
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

/** The route's very path, perhaps with one of these segments before it: any longer one may end, or begin, as it does. */
function isOf({ path }: Route, before: readonly string[]): CfnWebACL.StatementProperty {
  const first = before.map((segment) => `/${segment.replaceAll(".", "\\.")}`).join("|");
  return {
    regexMatchStatement: {
      fieldToMatch: { uriPath: {} },
      regexString: `^(${first})?${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`,
      textTransformations: [{ priority: 0, type: "NONE" }],
    },
  };
}
