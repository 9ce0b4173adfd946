import { expect, test } from "vitest";
import { AUDIT_ACTIONS, didOf } from "../../lib/model/workspace/audit-actions.ts";

test.each([
  ["mapping.deactivated", "paused the mapping Contact"],
  ["webhook.delivery_retried", "sent a delivery of the webhook Contact again"],
  ["config.baseline_saved", "saved the baseline"],
  ["mapping.flown", "did mapping.flown to Contact"],
])("%s reads as %j, also where this version does not know it", (action, says) => {
  expect(didOf(action, "Contact")).toBe(says);
});

test("each action names its resource at most once, and reads on from its actor", () => {
  for (const [, says] of Object.values(AUDIT_ACTIONS)) expect(says).toMatch(/^[a-z]+ [^{}]*(\{\}[^{}]*)?$/);
});
