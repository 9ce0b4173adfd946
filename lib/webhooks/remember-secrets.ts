import type { Vault } from "./ports.ts";

/** Secrets that one process remembers at most. */
const MAX_REMEMBERED = 1000;

/** Opens a sealed secret once per process: every attempt signs, and a sealed text never changes its meaning. */
export function rememberSecrets(vault: Pick<Vault, "open">): Pick<Vault, "open"> {
  const opened = new Map<string, Promise<string>>();
  return {
    open: (workspaceId, sealed) => {
      const name = `${workspaceId}/${sealed}`;
      const known = opened.get(name);
      if (known) return known;
      const secret = vault.open(workspaceId, sealed);
      secret.catch(() => opened.delete(name));
      opened.set(name, secret);
      const [oldest] = opened.keys();
      if (opened.size > MAX_REMEMBERED && oldest !== undefined) opened.delete(oldest);
      return secret;
    },
  };
}
