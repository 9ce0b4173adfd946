import type { CreateTokenData } from "bridge/api";
import { Button } from "../../parts/button.tsx";
import { Secret } from "../../parts/copy.tsx";
import { Notice } from "../../parts/trouble.tsx";

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
