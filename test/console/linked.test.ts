import { expect, test } from "vitest";
import { needsConsent } from "../../lib/console/api/linked.ts";

const LINKED = { workspaceId: "ws_theirs", token: "brg_theirs" };
const OTHER = { workspaceId: "ws_mine", token: "brg_mine" };

test.each([
  ["127.0.0.1", false],
  ["127.255.255.254", false],
  ["localhost", false],
  ["[::1]", false],
  ["bridge.example.com", true],
  ["127.0.0.1.example.com", true],
  ["localhost.example.com", true],
  ["10.0.0.7", true],
  ["0.0.0.0", true],
  ["[::ffff:7f00:1]", true],
  ["", true],
])("without a session a link at %j needs consent: %s", (hostname, expected) => {
  expect(needsConsent(hostname, LINKED, null)).toBe(expected);
  expect(needsConsent(hostname, LINKED, { ...LINKED, token: "brg_older" })).toBe(expected);
  // It never ends the session of another workspace without consent, and its own session needs none.
  expect(needsConsent(hostname, LINKED, OTHER)).toBe(true);
  expect(needsConsent(hostname, LINKED, LINKED)).toBe(false);
});
