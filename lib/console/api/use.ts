import { keepPreviousData, QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { actOnEach, type DoneOnEach } from "./act-on-each.ts";
import { type Act, ask, type Question, Refused, type Reply } from "./ask.ts";
import { useCredentials, useSession } from "./session.tsx";

/** One cache for the tab; what was seen a moment ago is shown at once and asked again behind it. */
export const queries = new QueryClient({
  defaultOptions: {
    // A browser that believes to be offline asks all the same: an answer that is not asked for looks like a fresh one.
    mutations: { networkMode: "always" },
    queries: {
      networkMode: "always",
      staleTime: 2_000,
      retry: (failures, error) => failures < 3 && mayPass(error),
      retryDelay: (failures, error) =>
        error instanceof Refused && error.retryAfterSeconds ? error.retryAfterSeconds * 1000 : 500 * 2 ** failures,
    },
  },
});

/** A refresh that takes longer counts as failed, for what is shown meanwhile is old. */
const REFRESH_SECONDS = 15;

/** No answer, a limit, a fault: later may be different. A refusal stays one. */
function mayPass(error: Error): boolean {
  return error instanceof Refused && (error.status === 0 || error.status === 429 || error.status >= 500);
}

/** A page untouched for so long asks each question no more often than that: one that is left open costs little. */
const UNTOUCHED_MILLISECONDS = 60_000;
const IDLE_SECONDS = 15;

let touchedAt = Date.now();
for (const sign of ["pointerdown", "pointermove", "wheel", "keydown"] as const) addEventListener(sign, touch);

const isIdle = (): boolean => Date.now() - touchedAt > UNTOUCHED_MILLISECONDS;

function touch(): void {
  const wasIdle = isIdle();
  touchedAt = Date.now();
  if (wasIdle) void queries.invalidateQueries({ type: "active" });
}

/** An answer that costs much: `static` holds also when everything is asked again. */
export const ASKED_ONCE = { staleTime: "static", refetchOnWindowFocus: false, refetchOnReconnect: false } as const;

interface Asking {
  /** Asks again after so many seconds, while the tab is seen; less often on an untouched page. */
  readonly everySeconds?: number;
  /** False: not asked, as when the token may not. */
  readonly when?: boolean;
  /** Shows the answer to the previous question until this one is answered, as when a list turns its page. */
  readonly keepsPrevious?: boolean;
  /** Asked once: neither after an act nor when the tab is seen again. */
  readonly once?: boolean;
}

/** The answer to a question, kept fresh. A token that is no longer valid ends the session. */
export function useAnswer<Answer>(
  question: Question<Answer>,
  { everySeconds, when = true, keepsPrevious, once }: Asking = {},
) {
  const credentials = useCredentials();
  const { signOut } = useSession();
  return useQuery<Reply<Answer>, Error>({
    queryKey: [credentials.workspaceId, question.path, question.query ?? null],
    queryFn: async ({ signal, client, queryKey }) => {
      try {
        const isRefresh = client.getQueryData(queryKey) !== undefined;
        return await ask(credentials, question, signal, isRefresh ? REFRESH_SECONDS : undefined);
      } catch (error) {
        if (error instanceof Refused && error.code === "UNAUTHORIZED")
          signOut("The token is no longer valid: it was revoked, or it has expired.");
        throw error;
      }
    },
    enabled: when,
    ...(everySeconds !== undefined && {
      refetchInterval: () => 1000 * (isIdle() ? Math.max(IDLE_SECONDS, everySeconds) : everySeconds),
    }),
    ...(keepsPrevious && { placeholderData: keepPreviousData }),
    ...(once && ASKED_ONCE),
  });
}

/** Something that can be done; afterwards everything on the page is asked again. */
export function useAct<Answer, Given = void>(actOf: (given: Given) => Act<Answer, unknown>) {
  const credentials = useCredentials();
  return useMutation<Reply<Answer>, Error, Given>({
    mutationFn: (given) => ask(credentials, actOf(given)),
    onSettled: useAskAgain(),
  });
}

interface Each {
  readonly ids: readonly string[];
  readonly onDone: (id: string) => void;
}

/** The same act on several things, one after the other; only then is everything on the page asked again. */
export function useActOnEach<Answer>(actOf: (id: string) => Act<Answer, unknown>) {
  const credentials = useCredentials();
  return useMutation<DoneOnEach, Error, Each>({
    mutationFn: ({ ids, onDone }) => actOnEach(ids, (id) => ask(credentials, actOf(id)), onDone),
    onSettled: useAskAgain(),
  });
}

/**
 * Asks everything on the page again. Not awaited: the new answers may take away the form
 * that acted, and with it the word that it was done.
 */
function useAskAgain(): () => void {
  const { workspaceId } = useCredentials();
  const client = useQueryClient();
  return () => void client.invalidateQueries({ queryKey: [workspaceId] });
}
