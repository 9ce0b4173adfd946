import type { CreateTokenBody, CreateTokenData, ListTokensData, RevokeTokenData } from "bridge/api";
import { KeyRound, Plus } from "lucide-react";
import { type FormEvent, useState } from "react";
import { questions } from "../api/questions.ts";
import { type Scope, useScopes } from "../api/scopes.ts";
import { useSession } from "../api/session.tsx";
import { useAct, useAnswer } from "../api/use.ts";
import { Badge, type Tone } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Secret } from "../parts/copy.tsx";
import { Confirm, Dialog } from "../parts/dialog.tsx";
import { Choice, Field } from "../parts/field.tsx";
import { List } from "../parts/list.tsx";
import { Bones, Card, Empty, Page } from "../parts/page.tsx";
import { Ago, Time } from "../parts/time.tsx";
import { useSay } from "../parts/toast.tsx";
import { Needs } from "../parts/too-small.tsx";
import { Notice, Trouble } from "../parts/trouble.tsx";
import { detailOf } from "./mappings/new-mapping.tsx";

type Token = ListTokensData[number];

const TONES: Record<Token["state"], Tone> = { valid: "good", expired: "quiet", revoked: "quiet" };

const SCOPES: Record<Scope, string> = {
  read: "read: looks at everything that tells no secret",
  operate: "operate: retries, polls and aborts as well",
  admin: "admin: everything, settings and tokens too",
};

/** Who may use the API of this workspace. */
export function Tokens() {
  const [makes, setMakes] = useState(false);
  const { refusal } = useScopes();
  return (
    <Page
      title="Tokens"
      says="Each opens the API of this workspace, as the person it was made for."
      acts={
        <Button
          kind="primary"
          icon={<Plus size={16} aria-hidden />}
          refused={refusal("admin")}
          onClick={() => setMakes(true)}
        >
          New token
        </Button>
      }
    >
      <Needs scope="admin" what="Tokens">
        <Card padded={false}>
          <Table />
        </Card>
      </Needs>
      <NewToken open={makes} onClose={() => setMakes(false)} />
    </Page>
  );
}

function Table() {
  const { data, error, refetch } = useAnswer(questions.tokens, { everySeconds: 15 });
  const { token: own } = useScopes();
  const [revoking, setRevoking] = useState<Token | null>(null);
  if (error && !data) return <Trouble error={error} again={() => void refetch()} />;
  if (!data) return <Bones lines={4} />;
  if (data.data.length === 0)
    return (
      <Empty icon={<KeyRound size={24} aria-hidden />} title="No tokens">
        Make one for each program and each person, so that each can be revoked alone.
      </Empty>
    );
  return (
    <>
      <List
        caption="Tokens"
        head={
          <>
            <th>Name and owner</th>
            <th>State</th>
            <th className="wide">May</th>
            <th className="wide">Last used</th>
            <th className="wide">Valid until</th>
            <th>
              <span className="unseen">Acts</span>
            </th>
          </>
        }
      >
        {data.data.map((token) => (
          <tr key={token.id}>
            <td className="breaks">
              {token.name} {token.id === own?.id && <span className="tag">this one</span>}
              <span className="sub">{token.owner}</span>
            </td>
            <td>
              <Badge tone={TONES[token.state]}>{token.state}</Badge>
            </td>
            <td className="wide">{token.scopes.join(", ")}</td>
            <td className="wide once">
              <Ago at={token.last_used_at} />
            </td>
            <td className="wide once">
              <Time at={token.valid_until} none="it is revoked" />
            </td>
            <td className="acts-cell">
              {token.state === "valid" && (
                <Button compact kind="plain" onClick={() => setRevoking(token)} aria-label={`Revoke ${token.name}`}>
                  Revoke
                </Button>
              )}
            </td>
          </tr>
        ))}
      </List>
      <Revoke token={revoking} isOwn={revoking?.id === own?.id} onClose={() => setRevoking(null)} />
    </>
  );
}

function Revoke({
  token,
  isOwn,
  onClose,
}: {
  readonly token: Token | null;
  readonly isOwn: boolean;
  readonly onClose: () => void;
}) {
  const say = useSay();
  const { signOut } = useSession();
  const revoke = useAct<RevokeTokenData, string>((id) => ({ method: "DELETE", path: `/tokens/${id}` }));
  return (
    <Confirm
      open={token !== null}
      onClose={onClose}
      title={`Revoke ${token?.name ?? "it"}?`}
      act="Revoke token"
      busy={revoke.isPending}
      error={revoke.error}
      onAct={() =>
        token &&
        revoke.mutate(token.id, {
          onSuccess: () => {
            onClose();
            if (isOwn) signOut("You revoked the token that you were signed in with.");
            else say.done(`${token.name} is revoked`, "It is refused within seconds.");
          },
        })
      }
    >
      <p>Whatever uses it is refused from now on. A revoked token can't be made valid again.</p>
      {isOwn && (
        <p>
          <strong>You are signed in with it.</strong>
        </p>
      )}
    </Confirm>
  );
}

function NewToken({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="New token">
      <NewTokenForm onClose={onClose} />
    </Dialog>
  );
}

function NewTokenForm({ onClose }: { readonly onClose: () => void }) {
  const { token: own } = useScopes();
  const [name, setName] = useState("");
  const [owner, setOwner] = useState(own?.owner ?? "");
  const [scope, setScope] = useState<Scope>("read");
  const [days, setDays] = useState("");
  const create = useAct<CreateTokenData, CreateTokenBody>((body) => ({ method: "POST", path: "/tokens", body }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({ name, owner, scopes: [scope], ...(days && { valid_days: Number(days) }) });
  };
  if (create.data) return <Made token={create.data.data} onClose={onClose} />;
  return (
    <form className="form" onSubmit={submit}>
      <Field
        label="Name"
        value={name}
        onChange={({ target }) => setName(target.value)}
        required
        placeholder="Grafana"
        hint="What uses it."
        wrong={detailOf(create.error, "name")}
      />
      <Field
        label="Owner"
        type="email"
        value={owner}
        onChange={({ target }) => setOwner(target.value)}
        required
        hint="Whose name the audit log shows for what it does."
        wrong={detailOf(create.error, "owner")}
      />
      <Choice label="May" value={scope} onChange={({ target }) => setScope(target.value as Scope)}>
        {Object.entries(SCOPES).map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </Choice>
      <Choice label="Valid" value={days} onChange={({ target }) => setDays(target.value)}>
        <option value="">until it is revoked</option>
        <option value="1">for a day</option>
        <option value="30">for 30 days</option>
        <option value="90">for 90 days</option>
        <option value="365">for a year</option>
      </Choice>
      {create.error && <Trouble error={create.error} title="The token was not made." />}
      <div className="acts">
        <Button kind="primary" type="submit" busy={create.isPending}>
          Create token
        </Button>
      </div>
    </form>
  );
}

function Made({ token, onClose }: { readonly token: CreateTokenData; readonly onClose: () => void }) {
  return (
    <>
      <Notice tone="good" title={`${token.name} is made. Copy it now: it is shown this once.`} />
      <Secret text={token.token} name="token" />
      <div className="acts">
        <Button kind="primary" onClick={onClose}>
          I have kept it
        </Button>
      </div>
    </>
  );
}
