import { useMutation } from "@tanstack/react-query";
import type { AcceptInvitationData } from "bridge/api";
import type { ReactNode } from "react";
import { type Act, ask, type Credentials } from "../../api/ask.ts";
import { Button } from "../../parts/button.tsx";
import { Notice } from "../../parts/trouble.tsx";
import { Made } from "./made.tsx";

interface InvitationProps {
  readonly linked: Credentials;
  readonly present: Credentials | null;
  readonly onToken: (token: string) => void;
  /** The sign-in with the new token: whether it is under way, and what refused it. */
  readonly busy: boolean;
  readonly refusal: ReactNode;
}

/** The first visit of an invited person: their token is created when they say so, once. */
export function Invitation({ linked, present, onToken, busy, refusal }: InvitationProps) {
  const accepting = useMutation<{ readonly data: AcceptInvitationData }, Error>({
    mutationFn: () => ask(linked, { method: "POST", path: "/tokens/accept" } satisfies Act<AcceptInvitationData>),
    networkMode: "always",
  });
  const made = accepting.data?.data;
  return (
    <main className="sign-in">
      <div className="card stack">
        <h1>You are invited to Bridge</h1>
        {made ? (
          <>
            <Made token={made} onKept={() => onToken(made.token)} busy={busy} />
            {refusal}
          </>
        ) : (
          <>
            <p className="breaks">
              This link gives you a token of your own for the workspace <code>{linked.workspaceId}</code>. It works
              once. Accept it only if you know who sent it: what you enter there, the others of the workspace can read.
              {present && ` You are signed in to ${present.workspaceId}, and leave it when you accept.`}
            </p>
            {accepting.error && (
              <Notice tone="bad" title="The invitation was not accepted.">
                {accepting.error.message}. It may be used, withdrawn or too old: ask for another one.
              </Notice>
            )}
            <div className="acts">
              <Button kind="primary" onClick={() => accepting.mutate()} busy={accepting.isPending}>
                Accept the invitation
              </Button>
            </div>
          </>
        )}
      </div>
    </main>
  );
}
