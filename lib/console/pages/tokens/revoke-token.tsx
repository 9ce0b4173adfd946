import type { ListTokensData, RevokeTokenData } from "bridge/api";
import { useSession } from "../../api/session.tsx";
import { useAct } from "../../api/use.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { useSay } from "../../parts/toast.tsx";

/** A token of the workspace; what opens the API is not part of it. */
export type Token = ListTokensData[number];

/** Ends a token at once. */
export function Revoke({
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
      <p>Whatever uses it is refused from now on. A revoked token can't become valid again.</p>
      {isOwn && (
        <p>
          <strong>You are signed in with it.</strong>
        </p>
      )}
    </Confirm>
  );
}
