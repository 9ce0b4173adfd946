import type {
  AuthorizeSalesforceBody,
  AuthorizeSalesforceData,
  ReadConnectionsData,
  SetSalesforceBody,
  SetSalesforceData,
} from "bridge/api";
import { type ReactNode, useState } from "react";
import { useAct } from "../../api/use.ts";
import { ActForm, detailOf, useFields } from "../../parts/acts/act-form.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Choice, Field, TextField } from "../../parts/field.tsx";
import { useSay } from "../../parts/toast.tsx";
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
      form={(onDone, cancel) => <Form onDone={onDone} cancel={cancel} />}
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

const LOGIN_URL = "https://login.salesforce.com";

function Form({ onDone, cancel }: { readonly onDone: () => void; readonly cancel: ReactNode }) {
  const [kind, setKind] = useState<Kind>("browser");
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
  const { texts, field } = useFields(
    { login_url: LOGIN_URL, client_id: "", client_secret: "", username: "", password: "", private_key: "" },
    act.error,
  );
  const tied = (name: keyof typeof texts) => {
    const ties = field(name);
    return { ...ties, wrong: ties.wrong ?? detailOf(act.error, `credentials.${name}`) };
  };
  const text = (name: keyof typeof texts, label: string, more: { type?: string; hint?: ReactNode } = {}) => (
    <Field
      label={label}
      {...tied(name)}
      required={!(name === "client_secret" && kind === "browser")}
      spellCheck={false}
      autoComplete="off"
      {...more}
    />
  );

  const submit = () => {
    const { login_url, client_id, client_secret } = texts;
    if (kind === "browser") {
      const body = { login_url, client_id, client_secret: client_secret || null, redirect_uri: redirectUri() };
      return authorize.mutate(body, { onSuccess: ({ data }) => location.assign(data.authorize_url) });
    }
    connect.mutate(
      { login_url, credentials: credentialsOf(kind, texts) },
      {
        onSuccess: ({ data }) => {
          say.done("The org is connected", `${data.username}, API ${data.api_version}`);
          onDone();
        },
      },
    );
  };

  return (
    <ActForm
      act={act}
      onSubmit={submit}
      button={kind === "browser" ? "Continue at Salesforce" : "Connect org"}
      failed="The org was not connected."
      behind={cancel}
    >
      <Choice
        label="How to sign in"
        value={kind}
        onChange={({ target }) => setKind(target.value as Kind)}
        options={Object.entries(KINDS)}
      />
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
          {...tied("private_key")}
          required
          placeholder="-----BEGIN PRIVATE KEY-----"
        />
      )}
    </ActForm>
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
