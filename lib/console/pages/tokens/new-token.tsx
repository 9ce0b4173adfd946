import type { CreateTokenBody, CreateTokenData } from "bridge/api";
import { type FormEvent, useState } from "react";
import { type Scope, useScopes } from "../../api/scopes.ts";
import { useAct } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Secret } from "../../parts/copy.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { Notice, Trouble } from "../../parts/trouble.tsx";
import { detailOf } from "../mappings/new-mapping.tsx";

const SCOPES: Record<Scope, string> = {
  read: "read: reads everything that shows no secret",
  operate: "operate: retries, polls and aborts as well",
  admin: "admin: everything, settings and tokens too",
};

/** Makes a token. The step that shows it ends by its own button alone: it is shown this once. */
export function NewToken({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const [made, setMade] = useState<CreateTokenData | null>(null);
  const close = () => {
    setMade(null);
    onClose();
  };
  return (
    <Dialog open={open} onClose={close} title="New token" holds={made !== null}>
      {made ? <Made token={made} onKept={close} /> : <Form onMade={setMade} />}
    </Dialog>
  );
}

function Form({ onMade }: { readonly onMade: (token: CreateTokenData) => void }) {
  const { token: own } = useScopes();
  const [name, setName] = useState("");
  const [owner, setOwner] = useState(own?.owner ?? "");
  const [scope, setScope] = useState<Scope>("read");
  const [days, setDays] = useState("");
  const create = useAct<CreateTokenData, CreateTokenBody>((body) => ({ method: "POST", path: "/tokens", body }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = { name, owner, scopes: [scope], ...(days && { valid_days: Number(days) }) };
    create.mutate(body, { onSuccess: ({ data }) => onMade(data) });
  };
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
      {create.error && <Trouble error={create.error} title="The token was not created." />}
      <div className="acts">
        <Button kind="primary" type="submit" busy={create.isPending}>
          Create token
        </Button>
      </div>
    </form>
  );
}

/** Shows a token that was created just now. */
export function Made({
  token,
  onKept,
  busy = false,
}: {
  readonly token: CreateTokenData;
  readonly onKept: () => void;
  readonly busy?: boolean;
}) {
  return (
    <>
      <Notice tone="good" title={`${token.name} is created. Copy it now: it is shown this once.`} />
      <Secret text={token.token} name="token" />
      <div className="acts">
        <Button kind="primary" onClick={onKept} busy={busy}>
          I have kept it
        </Button>
      </div>
    </>
  );
}
