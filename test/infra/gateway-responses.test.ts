import { ResponseType } from "aws-cdk-lib/aws-apigateway";
import { expect, test } from "vitest";
import { synthesizeFixtures } from "./assembly.ts";

test("whatever the gateway answers on its own is in the envelope, with the right status", async () => {
  const responses = (await synthesizeFixtures()).all("AWS::ApiGateway::GatewayResponse");

  const byType = Object.fromEntries(
    responses.map(({ Properties }) => {
      const body = JSON.parse(String(Properties["ResponseTemplates"]?.["application/json"])) as Envelope;
      expect(body).toEqual({
        success: false,
        error: { code: expect.any(String), message: expect.stringMatching(/\w+\./) },
      });
      const retryAfter = Properties["ResponseParameters"]?.["gatewayresponse.header.Retry-After"] ?? "never";
      return [String(Properties["ResponseType"]), `${Properties["StatusCode"]} ${body.error.code} ${retryAfter}`];
    }),
  );

  expect(Object.keys(byType).sort()).toEqual(typesOfThePlatform());
  expect(byType).toMatchObject({
    MISSING_AUTHENTICATION_TOKEN: "404 NOT_FOUND never",
    THROTTLED: "429 RATE_LIMITED '60'",
    REQUEST_TOO_LARGE: "413 PAYLOAD_TOO_LARGE never",
    INTEGRATION_TIMEOUT: "503 UNAVAILABLE '5'",
    INTEGRATION_FAILURE: "503 UNAVAILABLE '5'",
    API_CONFIGURATION_ERROR: "503 UNAVAILABLE '5'",
    UNAUTHORIZED: "401 UNAUTHORIZED never",
    DEFAULT_5XX: "500 INTERNAL_ERROR never",
  });
});

interface Envelope {
  readonly error: { readonly code: string };
}

function typesOfThePlatform(): string[] {
  const members: unknown[] = Object.values(ResponseType);
  return members.flatMap((member) => (member instanceof ResponseType ? [member.responseType] : [])).sort();
}
