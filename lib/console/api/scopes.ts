import { questions } from "./questions.ts";
import { useAnswer } from "./use.ts";

/** What a token may do. */
export type Scope = (typeof SCOPES)[number];

/** Each allows what those before it allow. */
const SCOPES = ["read", "operate", "admin"] as const;

/** Whether the token may do what asks for a scope, and why not if it may not: a sentence for the user. */
export function useScopes() {
  const { data } = useAnswer(questions.ownToken);
  const scopes = data?.data.scopes;
  const may = (scope: Scope): boolean =>
    scopes === undefined || scopes.some((given) => SCOPES.indexOf(given) >= SCOPES.indexOf(scope));
  return {
    token: data?.data,
    /** True until the answer is there, so that nothing flickers for those who may. */
    may,
    refusal: (scope: Scope): string | null =>
      may(scope) ? null : `Needs a token with the scope ${scope}; yours has ${scopes?.join(", ")}.`,
  };
}
