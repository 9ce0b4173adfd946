import type { TokenRecord, Tokens } from "./ports.ts";

/** A revoked token may still open a door for this long. */
const REMEMBERED_MILLISECONDS = 3000;

/** Last use is kept to the minute, so that a busy token does not cost a write per request. */
const TOUCH_EVERY_MILLISECONDS = 60_000;

/** Tokens that one process remembers at most. */
const MAX_REMEMBERED = 1000;

/** The same tokens, looked up at most every few seconds and touched at most once a minute by this process. */
export function rememberTokens(tokens: Tokens, now: () => Date): Tokens {
  const found = new Map<string, { readonly token: TokenRecord; readonly until: number }>();
  const touched = new Map<string, number>();

  return {
    create: tokens.create,
    list: tokens.list,
    revoke: tokens.revoke,

    find: async (hash) => {
      const known = found.get(hash);
      if (known && known.until > now().getTime()) return known.token;
      const token = await tokens.find(hash);
      if (found.size >= MAX_REMEMBERED) found.clear();
      if (token === null) found.delete(hash);
      else found.set(hash, { token, until: now().getTime() + REMEMBERED_MILLISECONDS });
      return token;
    },

    touch: async (hash, usedAt) => {
      if (usedAt.getTime() - (touched.get(hash) ?? 0) < TOUCH_EVERY_MILLISECONDS) return;
      if (touched.size >= MAX_REMEMBERED) touched.clear();
      touched.set(hash, usedAt.getTime());
      await tokens.touch(hash, usedAt);
    },
  };
}
