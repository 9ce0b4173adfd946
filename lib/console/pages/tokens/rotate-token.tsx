import type { CreateTokenBody, CreateTokenData, RevokeTokenData } from "bridge/api";
import { useState } from "react";
import { useAct } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice } from "../../parts/field.tsx";
import { useSay } from "../../parts/toast.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { Made } from "./made.tsx";
import type { Token } from "./revoke-token.tsx";

interface RotateProps {
  readonly token: Token;
  readonly isOwn: boolean;
  readonly onClose: () => void;
}

const OVERLAPS = { 1: "for an hour", 24: "for a day", 168: "for a week" } as const;

const DAY_MILLISECONDS = 86_400_000;

/** Makes a token like this one, and ends this one some time after the new one was kept. */
export function Rotate({ token, isOwn, onClose }: RotateProps) {
  const [hours, setHours] = useState("24");
  const say = useSay();
  const create = useAct<CreateTokenData, CreateTokenBody>((body) => ({ method: "POST", path: "/tokens", body }));
  const end = useAct<RevokeTokenData>(() => ({
    method: "DELETE",
    path: `/tokens/${token.id}`,
    query: { in_hours: Number(hours) },
  }));
  const made = create.data?.data;
  const onKept = () =>
    end.mutate(undefined, {
      onSuccess: () => {
        onClose();
        say.done(`${token.name} is rotated`, `The old token opens the API ${OVERLAPS[Number(hours) as 24]} more.`);
      },
    });
  return (
    <Dialog open onClose={onClose} title={`Rotate ${token.name}`} holds={made !== undefined}>
      {made && <Made token={made} onKept={onKept} busy={end.isPending} />}
      {end.error && <Trouble error={end.error} title="The new token is valid, and the old one has not been ended." />}
      {end.error && (
        <div className="acts">
          <Button onClick={onClose}>Leave both valid</Button>
        </div>
      )}
      {!made && (
        <>
          <p>
            A new token is created with the same name, owner and rights. Until the old one ends, both open the API, so
            that nothing is refused while you change over.
          </p>
          {isOwn && <p>You are signed in with the old one: sign in with the new one before it ends.</p>}
          <Choice
            label="The old one stays valid"
            value={hours}
            onChange={({ target }) => setHours(target.value)}
            options={Object.entries(OVERLAPS)}
          />
          {create.error && <Trouble error={create.error} title="No token was created; the old one is as it was." />}
          <div className="acts">
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="primary" busy={create.isPending} onClick={() => create.mutate(likeness(token))}>
              Make the new token
            </Button>
          </div>
        </>
      )}
    </Dialog>
  );
}

/** Valid for as many days as the old one was. */
function likeness({ name, owner, scopes, created_at, valid_until }: Token): CreateTokenBody {
  const days =
    valid_until === null ? null : Math.ceil((Date.parse(valid_until) - Date.parse(created_at)) / DAY_MILLISECONDS);
  return { name, owner, scopes: [...scopes], ...(days && { valid_days: days }) };
}
