import { CfnOutput, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { addDomain } from "./domain.ts";
import type { EndpointsStack } from "./endpoints-stack.ts";
import { baseUrlAt } from "./options/domain-option.ts";
import type { Settings } from "./options/settings.ts";
import { baseUrlOf, restApi } from "./rest-api.ts";
import { addShield } from "./shield.ts";

/** The gateway before the endpoints. It knows their functions by name, so that no reference ties the two stacks. */
export class ApiStack extends Stack {
  constructor(scope: Construct, settings: Settings, endpoints: EndpointsStack) {
    super(scope, `Bridge-${settings.stage}-Api`, {
      stackName: `Bridge-${settings.stage}-Api`,
      description: `Bridge (${settings.stage}): the API`,
    });
    this.addStackDependency(endpoints, "a method whose function does not exist answers 500");
    const api = restApi(this, settings, endpoints);
    const { domain, shield } = settings;
    if (domain) addDomain(this, api, domain);
    if (shield) addShield(this, api, shield, settings);
    const value = domain ? baseUrlAt(domain) : baseUrlOf(api);
    new CfnOutput(this, "BaseUrl", { value, description: "base_url of the API" });
  }
}
