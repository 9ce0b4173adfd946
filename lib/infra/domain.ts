import { CfnOutput } from "aws-cdk-lib";
import { BasePathMapping, DomainName, EndpointType, type RestApi, SecurityPolicy } from "aws-cdk-lib/aws-apigateway";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import type { Construct } from "constructs";
import type { Domain } from "./options/domain-option.ts";

/** Serves the API at the operator's domain, without the stage in its path; the operator's DNS leads there. */
export function addDomain(scope: Construct, api: RestApi, { name, certificateArn, basePath }: Domain): void {
  const domain = new DomainName(scope, "Domain", {
    domainName: name,
    certificate: Certificate.fromCertificateArn(scope, "Certificate", certificateArn),
    endpointType: EndpointType.REGIONAL,
    securityPolicy: SecurityPolicy.TLS_1_2,
  });
  new BasePathMapping(scope, "BasePath", { domainName: domain, restApi: api, ...(basePath !== null && { basePath }) });
  new CfnOutput(scope, "DomainTarget", {
    value: domain.domainNameAliasDomainName,
    description: `What ${name} must lead to, by CNAME or alias`,
  });
}
