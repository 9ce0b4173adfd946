import type { CreateTokenBody, CreateTokenData } from "bridge/api";
import { useState } from "react";
import type { Scope } from "../../api/scopes.ts";
import { useCredentials } from "../../api/session.tsx";
import { useAct } from "../../api/use.ts";
import { ActForm, useFields } from "../../parts/acts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { Secret } from "../../parts/copy.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { Time } from "../../parts/time.tsx";
import { Notice } from "../../parts/trouble.tsx";
import { hrefOf } from "../../route.ts";
import { SCOPES } from "./new-token.tsx";

/** Invites a person. The step that shows the link ends by its own button alone: it is shown this once. */
export function Invite({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const [made, setMade] = useState<CreateTokenData | null>(null);
  const close = () => {
    setMade(null);
    onClose();
  };
  return (
    <Dialog open={open} onClose={close} title="Invite a person" holds={made !== null}>
      {made ? <Link token={made} onKept={close} /> : <Form onMade={setMade} />}
    </Dialog>
  );
}

function Form({ onMade }: { readonly onMade: (token: CreateTokenData) => void }) {
  const create = useAct<CreateTokenData, CreateTokenBody>((body) => ({ method: "POST", path: "/tokens", body }));
  const { texts, field } = useFields({ owner: "", scope: "read" }, create.error);
  const { owner, scope } = texts;
  const body = { name: owner, owner, scopes: [scope as Scope], invitation: true };
  return (
    <ActForm
      act={create}
      onSubmit={() => create.mutate(body, { onSuccess: ({ data }) => onMade(data) })}
      button="Make the link"
      failed="The person was not invited."
    >
      <Field
        label="E-mail address"
        type="email"
        {...field("owner")}
        required
        hint="Bridge sends no e-mail: you send the link. The audit log shows this address for what they do."
      />
      <Choice label="May" {...field("scope")} options={Object.entries(SCOPES)} />
    </ActForm>
  );
}

function Link({ token, onKept }: { readonly token: CreateTokenData; readonly onKept: () => void }) {
  const { workspaceId } = useCredentials();
  const path = hrefOf("/sign-in", { workspace: workspaceId, invitation: token.token });
  return (
    <>
      <Notice tone="good" title={`Send ${token.owner} this link. It is shown this once.`}>
        It works once, until <Time at={token.valid_until} none="it is withdrawn" />.
      </Notice>
      <Secret text={`${location.origin}${location.pathname}${path}`} name="link" />
      <div className="acts">
        <Button kind="primary" onClick={onKept}>
          I have copied it
        </Button>
      </div>
    </>
  );
}
