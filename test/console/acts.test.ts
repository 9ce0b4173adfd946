import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const CONSOLE = join(import.meta.dirname, "../../lib/console");

/** A call of `useAct` or `useActOnEach` up to the end of its path. */
const ACT =
  /const (\w+) = useAct(?:OnEach)?(?:<[^(]*>)?\(\(\w*\) => \(\{\s*method: "([A-Z]+)",\s*path(?:: (`[^`]*`|"[^"]*"|\w+))?/g;

/** What each act of a component asks of the service; ids are `{}`. */
const ACTS = [
  "useMappingActs.poll: POST /mappings/{}/poll-now",
  "useMappingActs.compare: POST /mappings/{}/compare",
  "useMappingActs.pause: POST /mappings/{}/deactivate",
  "useMappingActs.activate: POST /mappings/{}/activate",
  "RetryChange.retry: POST /monitoring/errors/{}/retry",
  "UseOther.use: POST /monitoring/conflicts/{}/use-other-value",
  "Correct.nudge: POST /nudge",
  "Correct.save: PATCH /rows/{}/{}",
  "Retry.retry: POST /monitoring/errors/retry",
  "Dismiss.dismiss: POST /monitoring/errors/dismiss",
  "RetryAll.retry: POST /monitoring/errors/retry",
  "useRetry.retry: POST /mappings/{}/retry-inbound",
  "Deleted.poll: POST /mappings/{}/poll-now",
  "Deleted.act: POST /rows/{}/{}/restore",
  "Share.change: PATCH /monitoring/budget",
  "SaveBaseline.pin: POST /config/baseline",
  "Import.plan: POST /config/import",
  "Import.bring: POST /config/import",
  "ConnectionCard.test: POST {testPath}",
  "Form.connect: PUT /connections/postgres",
  "SalesforceReturn.complete: POST /connections/salesforce/complete",
  "Form.authorize: POST /connections/salesforce/authorize",
  "Form.connect: PUT /connections/salesforce",
  "ConfirmRelease.release: POST /mappings/{}/confirm-deletes",
  "ConfirmReject.forecast: POST /mappings/{}/reject-deletes",
  "ConfirmReject.reject: POST /mappings/{}/reject-deletes",
  "DryRun.start: POST /mappings/{}/dry-run",
  "DryRun.agree: POST /mappings/{}/activate",
  "Form.update: PATCH /mappings/{}",
  "Acts.poll: POST /mappings/{}/poll-now",
  'Acts.turn: POST /mappings/{}/{mapping.active ? "deactivate" : "activate"}',
  "CompareNow.compare: POST /mappings/{}/compare",
  "useActs.restore: POST /mappings/{}/restore",
  "useActs.abort: POST /mappings/{}/abort",
  "ConfirmReload.reload: POST /mappings/{}/reload",
  "ConfirmPush.push: POST /mappings/{}/push-existing",
  "ConfirmDelete.remove: DELETE /mappings/{}",
  "Form.create: POST /mappings",
  "Accept.accept: POST /mappings/{}/accept-restore",
  "Found.compare: POST /mappings/{}/compare",
  "Found.read: GET /mappings/{}",
  "TryNow.poll: POST /mappings/{}/poll-now",
  "DoIt.nudge: POST /nudge",
  "DoIt.write: PATCH /rows/{}/{}",
  "Form.create: POST /tokens",
  "Form.create: POST /tokens",
  "Revoke.revoke: DELETE /tokens/{}",
  "Rotate.create: POST /tokens",
  "Rotate.end: DELETE /tokens/{}",
  "SendAgain.retry: POST /webhooks/{}/deliveries/{}/retry",
  "RetryDelivery.retry: POST /webhooks/{}/deliveries/{}/retry",
  "Form.create: POST /webhooks",
  "Made.test: POST /webhooks/{}/test",
  "Replay.replay: POST /webhooks/{}/replay",
  "Acts.test: POST /webhooks/{}/test",
  "Acts.change: PATCH /webhooks/{}",
  "Acts.remove: DELETE /webhooks/{}",
  "ChangeForm.change: PATCH /webhooks/{}",
  "Rotate.rotate: POST {path}/rotate-secret",
];

test("each act of the console asks for what its button says: Release lets deletes go, Reject takes them back", () => {
  expect(componentsOf("**/*.tsx").flatMap(actsIn)).toEqual(ACTS);
});

test("no act is left out", () => {
  const calls = componentsOf("**/*.tsx").flatMap((component) => [...component.matchAll(/= useAct(?:OnEach)?[<(]/g)]);

  expect(calls).toHaveLength(ACTS.length);
});

test.each([
  ["pages/mappings/deletes-on-hold.tsx", "release", "ConfirmRelease"],
  ["pages/mappings/deletes-on-hold.tsx", "reject", "ConfirmReject"],
  ["pages/mappings/more-acts.tsx", "reload", "ConfirmReload"],
  ["pages/mappings/more-acts.tsx", "push", "ConfirmPush"],
  ["pages/mappings/more-acts.tsx", "delete", "ConfirmDelete"],
])("in %s the question %j is asked by %s alone", (file, question, dialog) => {
  const text = readFileSync(join(CONSOLE, file), "utf8");
  const asked = new RegExp(
    `(?:asks === "${question}" && <(\\w+)|<(\\w+) \\{\\.\\.\\.question\\("${question}"\\)\\})`,
    "g",
  );

  expect([...text.matchAll(asked)].map(([, one, other]) => one ?? other)).toEqual([dialog]);
});

function componentsOf(files: string): readonly string[] {
  return globSync(files, { cwd: CONSOLE })
    .toSorted()
    .flatMap((file) => readFileSync(join(CONSOLE, file), "utf8").split(/^(?=(?:export )?function )/m));
}

function actsIn(component: string): readonly string[] {
  const [, name = ""] = /^(?:export )?function (\w+)/.exec(component) ?? [];
  const [, own = "{path}"] = /const path = [`"]([^`"]*)[`"]/.exec(component) ?? [];
  return [...component.matchAll(ACT)].map(([, act, method, path = "path"]) => {
    const whole = path === "path" ? own : /^\w+$/.test(path) ? `{${path}}` : path.slice(1, -1);
    const written = whole
      .replace(/\$\{path\}/, own)
      .replace(/\$\{([^}]*)\}/g, (_, part: string) => (part.includes("?") ? `{${part}}` : "{}"));
    return `${name}.${act}: ${method} ${written}`;
  });
}
