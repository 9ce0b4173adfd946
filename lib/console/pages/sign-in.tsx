import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { ask, type Credentials, Refused } from "../api/ask.ts";
import { questions } from "../api/questions.ts";
import { useSession } from "../api/session.tsx";
import mark from "../mark.svg";
import { Button } from "../parts/button.tsx";
import { Check, Field } from "../parts/field.tsx";
import { Notice, Trouble } from "../parts/trouble.tsx";
import { go, usePlace } from "../route.ts";

/** Lets somebody in who has a token. `#/sign-in?workspace=…&token=…`, which `npm start` prints, does it at once. */
export function SignIn() {
  const { ended, signIn } = useSession();
  const { path, query } = usePlace();
  const [workspaceId, setWorkspaceId] = useState(query.get("workspace") ?? "");
  const [token, setToken] = useState(query.get("token") ?? "");
  const [linked] = useState<Credentials | null>(workspaceId && token ? { workspaceId, token } : null);
  const [stays, setStays] = useState(false);
  const { mutate, error, isPending } = useMutation<unknown, Error, Credentials>({
    mutationFn: (credentials) => ask(credentials, questions.ownToken),
    onSuccess: (_, credentials) => {
      if (path === "/sign-in") go("#/", "replace"); // the token leaves the address
      signIn(credentials, stays);
    },
  });
  useEffect(() => {
    document.title = "Sign in · Bridge";
    if (linked) mutate(linked);
  }, [linked, mutate]);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    mutate({ workspaceId: workspaceId.trim(), token: token.trim() });
  };

  return (
    <main className="sign-in">
      <div className="card stack">
        <div className="head-line">
          <img src={mark} alt="" width={28} height={28} />
          <h1>Sign in to Bridge</h1>
        </div>
        {ended && !error && <Notice tone="warn" title={ended} />}
        {error && <NoEntry error={error} />}
        <form className="form" onSubmit={submit}>
          <Field
            label="Workspace"
            value={workspaceId}
            onChange={({ target }) => setWorkspaceId(target.value)}
            required
            autoComplete="username"
            spellCheck={false}
            placeholder="ws_…"
          />
          <Field
            label="API token"
            hint="Kept for this tab alone, and forgotten when it closes."
            type="password"
            value={token}
            onChange={({ target }) => setToken(target.value)}
            required
            autoComplete="current-password"
            placeholder="brg_…"
          />
          <Check
            label="Stay signed in on this device"
            checked={stays}
            onChange={({ target }) => setStays(target.checked)}
          />
          <Button kind="primary" type="submit" busy={isPending}>
            Sign in
          </Button>
        </form>
        <p className="small muted">
          <code>npm start</code> prints an address that signs you in. On AWS, <code>bridge workspace create</code> shows
          both once; later tokens are made under Tokens.
        </p>
      </div>
    </main>
  );
}

function NoEntry({ error }: { readonly error: Error }) {
  const code = error instanceof Refused ? error.code : null;
  if (code === "UNAUTHORIZED")
    return (
      <Notice tone="bad" title="This token is not valid.">
        It may be mistyped, revoked or expired. Somebody with the scope admin can make another one.
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
