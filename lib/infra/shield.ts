import { Stack } from "aws-cdk-lib";
import type { RestApi } from "aws-cdk-lib/aws-apigateway";
import { CfnWebACL, CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import type { Construct } from "constructs";
import { GATEWAY_REFUSALS, inEnvelope } from "./gateway-responses.ts";
import type { Shield } from "./options/shield-option.ts";
import { nameIn, type Settings } from "./settings.ts";

/** The spec's limit, which the functions count exactly. */
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
 * Turns floods away before they cost a call of a function. WAF counts roughly and late, so it begins at twice the limit:
 * whoever keeps the spec's is never refused by it. Scrapers of the metrics are not counted, as in the functions.
 */
function floodGate(scope: Construct, { stage, rateLimitPerMinute }: Settings): CfnWebACL {
  const [status, code, message] = GATEWAY_REFUSALS.THROTTLED;
  const name = nameIn(stage, "shield");
  const visibilityConfig = { cloudWatchMetricsEnabled: true, sampledRequestsEnabled: false, metricName: name };
  return new CfnWebACL(scope, "FloodGate", {
    name,
    scope: "REGIONAL",
    defaultAction: { allow: {} },
    visibilityConfig,
    customResponseBodies: { refused: { contentType: "APPLICATION_JSON", content: inEnvelope(code, message) } },
    rules: [
      {
        name: "flood",
        priority: 0,
        visibilityConfig: { ...visibilityConfig, metricName: `${name}-flood` },
        action: {
          block: {
            customResponse: {
              responseCode: status,
              customResponseBodyKey: "refused",
              responseHeaders: [{ name: "Retry-After", value: "60" }],
            },
          },
        },
        statement: {
          rateBasedStatement: {
            aggregateKeyType: "IP",
            evaluationWindowSec: 60,
            limit: 2 * (rateLimitPerMinute ?? REQUESTS_PER_MINUTE),
            scopeDownStatement: { notStatement: { statement: endsWith("/api/metrics") } },
          },
        },
      },
    ],
  });
}

function endsWith(path: string): CfnWebACL.StatementProperty {
  return {
    byteMatchStatement: {
      fieldToMatch: { uriPath: {} },
      positionalConstraint: "ENDS_WITH",
      searchString: path,
      textTransformations: [{ priority: 0, type: "NONE" }],
    },
  };
}
