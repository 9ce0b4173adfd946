import type { Clock } from "../../clock.ts";
import { conflict } from "./errors.ts";
import type { SchedulerStore } from "./store.ts";

const REMEMBERED_MILLISECONDS = 8 * 3_600_000;

/** Does the work once for a client token: a repeated request gets the first one's answer, another request is refused. */
export function oncePerToken<Answer>(
  { store, clock }: { readonly store: SchedulerStore; readonly clock: Clock },
  token: string | undefined,
  request: unknown,
  work: () => Answer,
): Answer {
  if (token === undefined) return work();
  const asked = JSON.stringify(request);
  const earlier = store.token.get(token, clock.now());
  if (earlier && earlier.request !== asked) throw conflict("This ClientToken was used for a different request.");
  if (earlier) return JSON.parse(earlier.answer) as Answer;
  return store.transaction(() => {
    const answer = work();
    store.deleteTokens.run(clock.now());
    store.putToken.run(token, asked, JSON.stringify(answer ?? {}), clock.now() + REMEMBERED_MILLISECONDS);
    return answer;
  });
}
