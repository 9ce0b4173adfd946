import type {
  AuthorizeSalesforceBody,
  AuthorizeSalesforceData,
  ReadConnectionsData,
  SetSalesforceBody,
  SetSalesforceData,
} from "bridge/api";
import { type FormEvent, useState } from "react";
import { useAct } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Choice, Field, TextField } from "../../parts/field.tsx";
import { useSay } from "../../parts/toast.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { detailOf } from "../mappings/new-mapping.tsx";
import { ConnectionCard } from "./connection-card.tsx";
import { redirectUri } from "./return.tsx";

type Connection = ReadConnectionsData["salesforce"];
type Kind = "browser" | "password" | "client_credentials" | "jwt_bearer";

const KINDS: Record<Kind, string> = {
  browser: "Sign in with the browser (recommended)",
  client_credentials: "Client credentials",
  jwt_bearer: "JWT bearer, with a private key",
  password: "User name and password",
};

/** The org. */
export function SalesforceCard({ connection }: { readonly connection: Connection }) {
  return (
    <ConnectionCard
      title="Salesforce"
      noun="org"
      testPath="/connections/salesforce/test"
      facts={connection && <Facts connection={connection} />}
      form={(onDone, isNew) => <Form onDone={onDone} isNew={isNew} />}
    />
  );
}

function Facts({ connection }: { readonly connection: NonNullable<Connection> }) {
  return (
    <>
      <dt>Org</dt>
      <dd className="mono">{connection.organization_id}</dd>
      <dt>Instance</dt>
      <dd>{connection.instance_url}</dd>
      <dt>User</dt>
      <dd className="mono">{connection.user_id}</dd>
      <dt>API version</dt>
      <dd>{connection.api_version}</dd>
      <dt>Signed in by</dt>
      <dd>{connection.flow.replace("_", " ")}</dd>
    </>
  );
}

function Form({ onDone, isNew }: { readonly onDone: () => void; readonly isNew: boolean }) {
  const [kind, setKind] = useState<Kind>("browser");
  const [given, setGiven] = useState({
    login_url: "https://login.salesforce.com",
    client_id: "",
    client_secret: "",
    username: "",
    password: "",
    private_key: "",
  });
  const say = useSay();
  const authorize = useAct<AuthorizeSalesforceData, AuthorizeSalesforceBody>((body) => ({
    method: "POST",
    path: "/connections/salesforce/authorize",
    body,
  }));
  const connect = useAct<SetSalesforceData, SetSalesforceBody>((body) => ({
    method: "PUT",
    path: "/connections/salesforce",
    body,
  }));
  const act = kind === "browser" ? authorize : connect;

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (kind === "browser") {
      const { login_url, client_id, client_secret } = given;
      const body = { login_url, client_id, client_secret: client_secret || null, redirect_uri: redirectUri() };
      return authorize.mutate(body, { onSuccess: ({ data }) => location.assign(data.authorize_url) });
    }
    connect.mutate(
      { login_url: given.login_url, credentials: credentialsOf(kind, given) },
      {
        onSuccess: ({ data }) => {
          say.done("The org is connected", `${data.username}, API ${data.api_version}`);
          onDone();
        },
      },
    );
  };
  const text = (name: keyof typeof given, label: string, more: { type?: string; hint?: React.ReactNode } = {}) => (
    <Field
      label={label}
      value={given[name]}
      onChange={({ target }) => setGiven({ ...given, [name]: target.value })}
      required={!(name === "client_secret" && kind === "browser")}
      spellCheck={false}
      autoComplete="off"
      wrong={detailOf(act.error, name) ?? detailOf(act.error, `credentials.${name}`)}
      {...more}
    />
  );

  return (
    <form className="form" onSubmit={submit}>
      <Choice label="How to sign in" value={kind} onChange={({ target }) => setKind(target.value as Kind)}>
        {Object.entries(KINDS).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </Choice>
      {kind === "browser" && <BrowserSteps />}
      {text("login_url", "Login URL", { hint: "https://test.salesforce.com for a sandbox, or your own domain." })}
      {text("client_id", "Consumer key")}
      {kind !== "jwt_bearer" &&
        text("client_secret", "Consumer secret", {
          type: "password",
          ...(kind === "browser" && { hint: "Empty when the app does not require one (PKCE)." }),
        })}
      {(kind === "password" || kind === "jwt_bearer") && text("username", "User name")}
      {kind === "password" &&
        text("password", "Password", {
          type: "password",
          hint: "With the security token behind it, where the org asks for one.",
        })}
      {kind === "jwt_bearer" && (
        <TextField
          label="Private key (PEM)"
          value={given.private_key}
          onChange={({ target }) => setGiven({ ...given, private_key: target.value })}
          required
          wrong={detailOf(act.error, "credentials.private_key")}
          placeholder="-----BEGIN PRIVATE KEY-----"
        />
      )}
      {act.error && <Trouble error={act.error} title="The org was not connected." />}
      <div className="acts">
        <Button kind="primary" type="submit" busy={act.isPending}>
          {kind === "browser" ? "Continue at Salesforce" : "Connect org"}
        </Button>
        {!isNew && (
          <Button kind="plain" onClick={onDone}>
            Cancel
          </Button>
        )}
      </div>
    </form>
  );
}

function BrowserSteps() {
  return (
    <ol className="steps">
      <li>
        In Salesforce, under Setup, External Client Apps, make an app with OAuth, the scopes <code>api</code> and{" "}
        <code>refresh_token</code>, and this callback URL:
        <div className="secret">
          <code>{redirectUri()}</code>
          <Copy text={redirectUri()} name="callback URL" />
        </div>
      </li>
      <li>Copy the app's consumer key, and its secret if it has one, to the fields below.</li>
      <li>Sign in as the user whose rights Bridge should have. An integration user of its own is best.</li>
    </ol>
  );
}

function credentialsOf(
  kind: Exclude<Kind, "browser">,
  given: Readonly<Record<"client_id" | "client_secret" | "username" | "password" | "private_key", string>>,
): SetSalesforceBody["credentials"] {
  const { client_id, client_secret, username, password, private_key } = given;
  if (kind === "password") return { kind, client_id, client_secret, username, password };
  if (kind === "jwt_bearer") return { kind, client_id, username, private_key };
  return { kind, client_id, client_secret };
}
