import type { CreateTokenBody, CreateTokenData } from "bridge/api";
import { useState } from "react";
import { type Scope, useScopes } from "../../api/scopes.ts";
import { useAct } from "../../api/use.ts";
import { ActForm, useFields } from "../../parts/acts/act-form.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { Made } from "./made.tsx";

/** What a token may do, in words. */
export const SCOPES: Record<Scope, string> = {
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

const TIMES = [
  ["", "until it is revoked"],
  ["1", "for a day"],
  ["30", "for 30 days"],
  ["90", "for 90 days"],
  ["365", "for a year"],
] as const;

function Form({ onMade }: { readonly onMade: (token: CreateTokenData) => void }) {
  const { token: own } = useScopes();
  const create = useAct<CreateTokenData, CreateTokenBody>((body) => ({ method: "POST", path: "/tokens", body }));
  const { texts, field } = useFields({ name: "", owner: own?.owner ?? "", scope: "read", days: "" }, create.error);
  const { name, owner, scope, days } = texts;
  const body = { name, owner, scopes: [scope as Scope], ...(days && { valid_days: Number(days) }) };
  return (
    <ActForm
      act={create}
      onSubmit={() => create.mutate(body, { onSuccess: ({ data }) => onMade(data) })}
      button="Create token"
      failed="The token was not created."
    >
      <Field
        label="Name"
        {...field("name")}
        required
        placeholder="Grafana"
        hint="The program or person that uses it."
      />
      <Field
        label="Owner"
        type="email"
        {...field("owner")}
        required
        hint="The audit log names this person for everything that the token does."
      />
      <Choice label="May" {...field("scope")} options={Object.entries(SCOPES)} />
      <Choice label="Valid" {...field("days")} options={TIMES} />
    </ActForm>
  );
}
