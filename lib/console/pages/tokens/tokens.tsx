import { KeyRound, Plus } from "lucide-react";
import { useState } from "react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAnswer } from "../../api/use.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { ListCard } from "../../parts/list-card.tsx";
import { Empty, Page } from "../../parts/page.tsx";
import { Ago } from "../../parts/time.tsx";
import { Needs } from "../../parts/too-small.tsx";
import { go, hrefOf, usePlace } from "../../route.ts";
import { Invite } from "./invite.tsx";
import { NewToken } from "./new-token.tsx";
import { Revoke, type Token } from "./revoke-token.tsx";
import { Rotate } from "./rotate-token.tsx";

const TONES: Record<Token["state"], Tone> = { valid: "good", invited: "warn", expired: "quiet", revoked: "quiet" };

/** Who may use the API of this workspace. */
export function Tokens() {
  const [opens, setOpens] = useState<"token" | "invitation" | null>(null);
  const { refusal } = useScopes();
  return (
    <Page
      title="People and tokens"
      says="Who may do what. Each token opens the API of this workspace as its owner, whom the audit log names."
      acts={
        <>
          <Button refused={refusal("admin")} onClick={() => setOpens("token")}>
            New token
          </Button>
          <Button
            kind="primary"
            icon={<Plus size={16} aria-hidden />}
            refused={refusal("admin")}
            onClick={() => setOpens("invitation")}
          >
            Invite
          </Button>
        </>
      }
    >
      <Needs scope="admin" what="Tokens">
        <Table />
      </Needs>
      <NewToken open={opens === "token"} onClose={() => setOpens(null)} />
      <Invite open={opens === "invitation"} onClose={() => setOpens(null)} />
    </Page>
  );
}

function Table() {
  const answer = useAnswer(questions.tokens, { everySeconds: 15 });
  const { token: own } = useScopes();
  const [revoking, setRevoking] = useState<Token | null>(null);
  const rotate = usePlace().query.get("rotate");
  const rotating = answer.data?.data.find(({ id }) => id === rotate);
  return (
    <>
      <ListCard
        answer={answer}
        lines={4}
        empty={
          <Empty icon={<KeyRound size={24} aria-hidden />} title="No tokens">
            Create one for each program and each person, so that you can revoke each one alone.
          </Empty>
        }
        caption="Tokens"
        head={["Name and owner", "State", ["May", "wide"], ["Last used", "wide"], ["Ends", "wide"]]}
        acts
      >
        {(token) => (
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
              <Ago at={token.valid_until} none="no end" />
            </td>
            <td className="acts-cell">
              {token.state === "valid" && (
                <Button
                  compact
                  kind="plain"
                  onClick={() => go(hrefOf("/tokens", { rotate: token.id }))}
                  aria-label={`Rotate ${token.name}`}
                >
                  Rotate
                </Button>
              )}
              {["valid", "invited"].includes(token.state) && (
                <Button compact kind="plain" onClick={() => setRevoking(token)} aria-label={`Revoke ${token.name}`}>
                  Revoke
                </Button>
              )}
            </td>
          </tr>
        )}
      </ListCard>
      {rotating && (
        <Rotate token={rotating} isOwn={rotating.id === own?.id} onClose={() => go(hrefOf("/tokens"), "replace")} />
      )}
      <Revoke token={revoking} isOwn={revoking?.id === own?.id} onClose={() => setRevoking(null)} />
    </>
  );
}
