import { Lock } from "lucide-react";
import type { ReactNode } from "react";
import { type Scope, useScopes } from "../api/scopes.ts";
import { Card, Empty } from "./page.tsx";

/** Shows what a scope allows to those who have it, and to all others what is here and how to get to it. */
export function Needs({
  scope,
  what,
  children,
}: {
  readonly scope: Scope;
  readonly what: string;
  readonly children: ReactNode;
}) {
  const { may, token } = useScopes();
  if (may(scope)) return children;
  return (
    <Card padded={false}>
      <Empty icon={<Lock size={22} aria-hidden />} title={`${what} need a token with the scope ${scope}`}>
        Yours may {token?.scopes.join(", ")}. Ask a user with the scope admin to create another one under Tokens, then
        sign in with it.
      </Empty>
    </Card>
  );
}
