import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROUTES } from "../../lib/http/routes.ts";

const CONSOLE = join(import.meta.dirname, "../../lib/console");

/** A call of `useAct` or `useActOnEach` up to the end of its path. */
const ACT =
  /const (\w+) = useAct(?:OnEach)?(?:<[^(]*>)?\(\(\w*\) => \(\{\s*method: "([A-Z]+)",\s*path(?:: (`[^`]*`|"[^"]*"|\w+))?/g;

/** What acts ask that delete, send, let go or change hands. */
const ACTS = [
  "useMappingActs.pause: POST /mappings/{}/deactivate",
  "useMappingActs.activate: POST /mappings/{}/activate",
  "RetryChange.retry: POST /monitoring/errors/{}/retry",
  "UseOther.use: POST /monitoring/conflicts/{}/use-other-value",
  "Retry.retry: POST /monitoring/errors/retry",
  "Dismiss.dismiss: POST /monitoring/errors/dismiss",
  "useRetry.retry: POST /mappings/{}/retry-inbound",
  "Deleted.act: POST /rows/{}/{}/restore",
  "SaveBaseline.pin: POST /config/baseline",
  "ConfirmRelease.release: POST /mappings/{}/confirm-deletes",
  "ConfirmReject.forecast: POST /mappings/{}/reject-deletes",
  "ConfirmReject.reject: POST /mappings/{}/reject-deletes",
  "DryRun.start: POST /mappings/{}/dry-run",
  "DryRun.agree: POST /mappings/{}/activate",
  'Acts.turn: POST /mappings/{}/{mapping.active ? "deactivate" : "activate"}',
  "CompareNow.compare: POST /mappings/{}/compare",
  "useActs.restore: POST /mappings/{}/restore",
  "useActs.abort: POST /mappings/{}/abort",
  "ConfirmReload.reload: POST /mappings/{}/reload",
  "ConfirmPush.push: POST /mappings/{}/push-existing",
  "ConfirmDelete.remove: DELETE /mappings/{}",
  "Accept.accept: POST /mappings/{}/accept-restore",
  "Revoke.revoke: DELETE /tokens/{}",
  "Rotate.end: DELETE /tokens/{}",
  "Replay.replay: POST /webhooks/{}/replay",
  "Acts.remove: DELETE /webhooks/{}",
];

test("acts of the console ask for what their buttons say: Release lets deletes go, Reject takes them back; and none for what is no endpoint", () => {
  const components = componentsOf();
  const asked = components.flatMap(actsIn);
  expect(asked).toEqual(expect.arrayContaining(ACTS));
  const endpoints = Object.values(ROUTES).map(
    ({ method, path }) => `${method} ${path.replace(/^.*?\{workspace_id\}/, "").replaceAll(/\{\w+\}/g, "{}")}`,
  );
  const uncertain = /\{(path|testPath|mapping\.active.*)\}/;

  const none = asked.filter((act) => !uncertain.test(act) && !endpoints.includes(act.replace(/^\S+ /, "")));
  expect(none).toEqual([]);
  expect(asked).toHaveLength(components.flatMap((one) => [...one.matchAll(/= useAct(?:OnEach)?[<(]/g)]).length);
});

test.each([
  ["pages/mappings/deletes-on-hold.tsx", "release", "ConfirmRelease"],
  ["pages/mappings/deletes-on-hold.tsx", "reject", "ConfirmReject"],
  ["pages/mappings/more-acts.tsx", "reload", "ConfirmReload"],
  ["pages/mappings/more-acts.tsx", "push", "ConfirmPush"],
  ["pages/mappings/more-acts.tsx", "delete", "ConfirmDelete"],
])("in %s the question %j is asked by %s alone", (file, question, dialog) => {
  const text = readFileSync(join(CONSOLE, file), "utf8");
  const [here, parted] = [`asks === "${question}" && <(\\w+)`, `<(\\w+) \\{\\.\\.\\.question\\("${question}"\\)\\}`];
  const asked = text.matchAll(new RegExp(`${here}|${parted}`, "g"));

  expect([...asked].map(([, one, other]) => one ?? other)).toEqual([dialog]);
});

function componentsOf(): readonly string[] {
  return globSync("**/*.tsx", { cwd: CONSOLE })
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
