import { expect, test } from "vitest";
import { ownAddress } from "../../lib/http/request.ts";
import { butNotOwn } from "../../lib/webhooks/own-address.ts";

const anywhere = async () => null;

test.each([
  ["https://api.example.com/dev", "api.example.com/dev"],
  ["https://api.example.com/dev/api/v1/t/ws_1/health?a=b", "api.example.com/dev"],
  ["http://API.example.com:80/dev/hooks", "Api.Example.com/dev"],
  ["https://bridge.example.com/hooks", "bridge.example.com"],
  ["http://127.0.0.1:8080/api/v1", "127.0.0.1:8080"],
])("%s is no receiver for the API at %s", async (url, own) => {
  expect(await butNotOwn(anywhere, own)(url)).toContain("this API itself");
});

test.each([
  ["https://api.example.com/development/hooks", "api.example.com/dev"],
  ["https://api.example.com/hooks", "api.example.com/dev"],
  ["https://hooks.bridge.example.com/", "bridge.example.com"],
  ["http://127.0.0.1:9090/hooks", "127.0.0.1:8080"],
  ["https://api.example.com/dev", null],
])("%s is one for the API at %s", async (url, own) => {
  expect(await butNotOwn(anywhere, own)(url)).toBeNull();
});

test("what the other guard refuses stays refused", async () => {
  expect(await butNotOwn(async () => "is not nice", "api.example.com")("https://nice.example.com")).toBe("is not nice");
});

test.each([
  ["/dev/api/v1/t/ws_1/webhooks", "api.example.com/dev"],
  ["/dev//api/v1/t/ws_1/webhooks/", "api.example.com/dev"],
  ["/api/v1/t/ws_1/webhooks", "api.example.com"],
  ["//api/v1/t/ws_1/webhooks", "api.example.com"],
])("a request for %s came to %s", (path, address) => {
  expect(ownAddress({ requestContext: { domainName: "api.example.com", path } })).toBe(address);
});
