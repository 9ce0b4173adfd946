import { afterAll, beforeAll, expect, test } from "vitest";
import { createMatcher } from "../../lib/local/cloud/lambda/gateway/match-route.ts";
import type { RestMethod } from "../../lib/local/cloud/lambda/gateway/rest-routes.ts";
import { explainRefusal } from "../../lib/settings/explain-refusal.ts";
import { openPlayer, type Player } from "./play.ts";
import { named, type Recorded, recorded } from "./recorded.ts";

/** A refusal that is no matter of a person's, or no fault of ours: `not` is the kind that it must not be. */
interface Passing extends Omit<Recorded, "refused"> {
  readonly refused: { readonly not: string; readonly code: string };
}

let player: Player;
beforeAll(async () => {
  player = await openPlayer();
});
afterAll(() => player.close());

test.each(named(recorded<Passing>("passing")))("%s is read as what it is", async (_, answer) => {
  const { refusal } = await player.play(answer);

  expect(refusal?.code).toBe(answer.refused.code);
  expect(refusal?.kind).not.toBe(answer.refused.not);
  expect(refusal?.message).not.toContain("connect the workspace to Salesforce again");
});

const WITHOUT_REMEDY = [
  "an app that is not installed",
  "a user whom no administrator approved",
  "a scope that is missing",
];

test.each(named(recorded("sign-in").filter(({ name }) => WITHOUT_REMEDY.includes(name))))(
  "%s comes with what to do about it",
  async (_, answer) => {
    const { refusal } = await player.play({ ...answer, ask: "logIn" });
    if (!refusal) throw new Error("it was not refused");

    const said = `Salesforce refused: ${refusal.message} (${refusal.code})`;
    expect(explainRefusal(refusal).replace(said, "")).toMatch(/^; \w/);
  },
);

interface ProxyEvent {
  readonly name: string;
  readonly source: string;
  readonly kind: string;
  readonly event: { readonly resource: string; readonly path: string; readonly pathParameters: object | null };
}

const PROXIES = recorded<ProxyEvent>("events").filter(
  ({ kind, source }) => kind === "proxy" && /localstack/.test(source),
);

test.each(named(PROXIES))("%s is matched with the parameters that AWS gave", (_, { event }) => {
  const resources = ["/{proxy+}", "/hardcoded"];
  const methods = resources.map((resourcePath) => ({ resourcePath, httpMethod: "ANY" }) as RestMethod);

  const match = createMatcher(methods)("GET", event.path);

  expect(match?.method.resourcePath).toBe(event.resource);
  expect(match?.pathParameters).toEqual(event.pathParameters);
});
