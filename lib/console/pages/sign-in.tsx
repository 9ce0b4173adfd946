import { useMutation, useQuery } from "@tanstack/react-query";
import { Suspense, useEffect, useState } from "react";
import { ask, type Credentials, Refused } from "../api/ask.ts";
import { needsConsent } from "../api/linked.ts";
import { questions } from "../api/questions.ts";
import { useSession } from "../api/session.tsx";
import { queries } from "../api/use.ts";
import mark from "../mark.svg";
import { ActForm, useFields } from "../parts/acts/act-form.tsx";
import { Button } from "../parts/button.tsx";
import { Check, Field } from "../parts/field.tsx";
import { later } from "../parts/later.ts";
import { Notice, Trouble } from "../parts/trouble.tsx";

const Invitation = later(async () => (await import("./tokens/invitation.tsx")).Invitation);

/** What a link brought: `#/sign-in?workspace=…&token=…`, which `npm start` prints, or `&invitation=…`. */
export interface Linked extends Credentials {
  readonly isInvitation: boolean;
}

interface SignInProps {
  readonly linked: Linked | null;
  readonly onDone: () => void;
}

/** Signs a user in who has a token; by a link at once, unless that needs consent. */
export function SignIn({ linked, onDone }: SignInProps) {
  const { credentials: present, ended, signIn } = useSession();
  const [asks, setAsks] = useState(linked !== null && needsConsent(location.hostname, linked, present));
  const token = linked?.isInvitation ? "" : (linked?.token ?? "");
  const { texts, field } = useFields({ workspaceId: linked?.workspaceId ?? "", token });
  const [stays, setStays] = useState(false);
  const entry = useMutation<unknown, Error, Credentials>({
    mutationFn: (credentials) => ask(credentials, questions.ownToken),
    networkMode: "always",
    onSuccess: (_, credentials) => {
      queries.clear(); // nothing of one workspace is shown to the next
      signIn(credentials, stays);
      onDone();
    },
  });
  const { mutate, error } = entry;
  useEffect(() => {
    document.title = "Sign in · Bridge";
    if (linked && !linked.isInvitation && !asks) mutate(linked);
  }, [linked, asks, mutate]);

  if (linked?.isInvitation)
    return (
      <Suspense>
        <Invitation
          linked={linked}
          present={present}
          onToken={(token) => mutate({ ...linked, token })}
          busy={entry.isPending}
          refusal={error && <NoEntry error={error} />}
        />
      </Suspense>
    );
  if (asks && linked) return <Consent linked={linked} present={present} onAct={() => setAsks(false)} onStay={onDone} />;
  return (
    <main className="sign-in">
      <div className="card stack">
        <div className="head-line">
          <img src={mark} alt="" width={28} height={28} />
          <h1>Sign in to Bridge</h1>
        </div>
        {ended && !error && <Notice tone="warn" title={ended} />}
        {error && <NoEntry error={error} />}
        <ActForm
          act={entry}
          onSubmit={() => mutate({ workspaceId: texts.workspaceId.trim(), token: texts.token.trim() })}
          button="Sign in"
          behind={present && <Button onClick={onDone}>Stay in {present.workspaceId}</Button>}
        >
          <Field
            label="Workspace"
            {...field("workspaceId")}
            required
            autoComplete="username"
            spellCheck={false}
            placeholder="ws_…"
          />
          <Field
            label="API token"
            hint="Kept for this tab alone, and removed when it closes."
            type="password"
            {...field("token")}
            required
            autoComplete="current-password"
            placeholder="brg_…"
          />
          <Check
            label="Stay signed in on this device"
            checked={stays}
            onChange={({ target }) => setStays(target.checked)}
          />
        </ActForm>
        <p className="small muted">
          <code>npm start</code> prints an address that signs you in. On AWS, <code>bridge workspace create</code> shows
          both once; later tokens are created under Tokens.
        </p>
      </div>
    </main>
  );
}

interface ConsentProps {
  readonly linked: Credentials;
  readonly present: Credentials | null;
  readonly onAct: () => void;
  readonly onStay: () => void;
}

/** A link is followed by one click, so it may neither open a workspace of its sender's nor end a session on its own. */
function Consent({ linked, present, onAct, onStay }: ConsentProps) {
  const { workspaceId: to } = linked;
  const { data, error } = useQuery({
    queryKey: ["link", to],
    queryFn: ({ signal }) => ask(linked, questions.workspace, signal),
  });
  return (
    <main className="sign-in">
      <div className="card stack">
        <h1>{present ? "Sign in to another workspace?" : "Sign in by this link?"}</h1>
        {error ? (
          <NoEntry error={error} />
        ) : (
          <p className="breaks">
            This link opens {data ? <strong>{data.data.name}</strong> : "…"} (<code>{to}</code>). Continue only if you
            know who sent it: what you enter there, its owner can read.
            {present && (
              <>
                {" "}
                You are signed in to <code>{present.workspaceId}</code>, and leave it when you continue.
              </>
            )}
          </p>
        )}
        <div className="acts">
          {!error && (
            <Button kind="primary" onClick={onAct} busy={!data}>
              Sign in to {to}
            </Button>
          )}
          <Button onClick={onStay}>{present ? `Stay in ${present.workspaceId}` : "Do not sign in"}</Button>
        </div>
      </div>
    </main>
  );
}

function NoEntry({ error }: { readonly error: Error }) {
  const code = error instanceof Refused ? error.code : null;
  if (code === "UNAUTHORIZED")
    return (
      <Notice tone="bad" title="This token is not valid.">
        It may be mistyped, revoked or expired. A user with the scope admin can create another one.
      </Notice>
    );
  if (code === "FORBIDDEN" || code === "WORKSPACE_NOT_FOUND")
    return (
      <Notice tone="bad" title="This token does not belong to this workspace.">
        Check the workspace's id; it begins with ws_.
      </Notice>
    );
  return <Trouble error={error} />;
}
