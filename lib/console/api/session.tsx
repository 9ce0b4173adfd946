import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from "react";
import type { Credentials } from "./ask.ts";

/** What is known of this tab's user. */
interface Session {
  readonly credentials: Credentials | null;
  /** Why the last session ended, if it was not by choice. */
  readonly ended: string | null;
  /** `stays`: kept on this device instead of for this tab alone. */
  signIn(credentials: Credentials, stays: boolean): void;
  signOut(why?: string): void;
}

const KEY = "bridge.session";

const Context = createContext<Session | null>(null);

/** Keeps the token for the tab, or on the device when that was asked for; both are emptied when the session ends. */
export function SessionProvider({ children }: { readonly children: ReactNode }) {
  const [credentials, setCredentials] = useState(kept);
  const [ended, setEnded] = useState<string | null>(null);
  const signIn = useCallback((given: Credentials, stays: boolean) => {
    keep(given, stays);
    setEnded(null);
    setCredentials(given);
  }, []);
  const signOut = useCallback((why?: string) => {
    forget();
    setEnded(why ?? null);
    setCredentials(null);
  }, []);
  const session = useMemo(() => ({ credentials, ended, signIn, signOut }), [credentials, ended, signIn, signOut]);
  return <Context value={session}>{children}</Context>;
}

/** The session of this tab. */
export function useSession(): Session {
  const session = useContext(Context);
  if (!session) throw new Error("useSession is used outside of SessionProvider");
  return session;
}

/** The credentials of the session; only pages behind the sign-in ask. */
export function useCredentials(): Credentials {
  const { credentials } = useSession();
  if (!credentials) throw new Error("there is no session");
  return credentials;
}

function kept(): Credentials | null {
  const text = sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY);
  if (text === null) return null;
  try {
    const { workspaceId, token } = JSON.parse(text) as Partial<Credentials>;
    return workspaceId && token ? { workspaceId, token } : null;
  } catch {
    return null; // written by something else: no session
  }
}

function keep(credentials: Credentials, stays: boolean): void {
  forget();
  (stays ? localStorage : sessionStorage).setItem(KEY, JSON.stringify(credentials));
}

function forget(): void {
  sessionStorage.removeItem(KEY);
  localStorage.removeItem(KEY);
}
