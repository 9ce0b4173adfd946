import { createCache } from "../model/cache.ts";
import { DEPLOYMENT, type PauseSwitch, pauseOf } from "../model/workspace/pause.ts";
import type { Pauses, SealedWorkspace, TokenRecord, Tokens, Workspaces } from "./ports.ts";

/** A revoked token may still open a door for this long. */
const TOKEN_MILLISECONDS = 3000;

/** Last use is kept to the minute, so that a busy token does not cost a write per request. */
const TOUCH_EVERY_MILLISECONDS = 60_000;

/** What a reader sees of a workspace's name and connections may be this old. */
const WORKSPACE_MILLISECONDS = 2000;

/** The same tokens, looked up at most every few seconds and touched at most once a minute by this process. */
export function cacheTokens(tokens: Tokens, now: () => Date): Tokens {
  const found = createCache<TokenRecord | null>({
    ttl: { milliseconds: TOKEN_MILLISECONDS, now },
    keeps: (token) => token !== null,
  });
  const touched = createCache<void>({ ttl: { milliseconds: TOUCH_EVERY_MILLISECONDS, now } });
  return {
    ...tokens,
    find: (hash, other) => found(hash.hash, () => tokens.find(hash, other)),
    touch: (hash, usedAt) => touched(hash.hash, () => tokens.touch(hash, usedAt)),
  };
}

/**
 * The same workspaces for endpoints that only read, looked up at most every two seconds by this process. One that is
 * not connected yet is looked up each time, so that a new connection shows at once.
 */
export function cacheWorkspaces(workspaces: Pick<Workspaces, "find">, now: () => Date): Pick<Workspaces, "find"> {
  const found = createCache<SealedWorkspace | null>({
    ttl: { milliseconds: WORKSPACE_MILLISECONDS, now },
    keeps: (workspace) => workspace?.isConnected === true,
  });
  return { find: (workspaceId) => found(workspaceId, () => workspaces.find(workspaceId)) };
}

/** Pauses as this process read them in the last two seconds, so that cycles may ask before every call. */
export function cachePauses(workspaces: Pick<Workspaces, "find">, now: () => Date): Pauses {
  const found = createCache<PauseSwitch | null>({ ttl: { milliseconds: WORKSPACE_MILLISECONDS, now } });
  const switchOf = (id: string) => found(id, async () => (await workspaces.find(id))?.pauseSwitch ?? null);
  return { find: async (workspaceId) => pauseOf(await switchOf(workspaceId), await switchOf(DEPLOYMENT)) };
}
