import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { CommandFailure } from "./failure.ts";
import type { Terminal } from "./terminal.ts";

/** Where an instance answers, which workspace of it is meant, and the token that opens it. */
export interface Target {
  readonly url: string;
  readonly workspaceId: string;
  readonly token: string;
}

/** What `bridge login` keeps, for its user's eyes only. */
export interface Profiles {
  /** The profile that is used when none is named; null: none. */
  readonly current: string | null;
  readonly profiles: Readonly<Record<string, Target>>;
}

/** Where a command goes, and how that was decided, in words. */
export interface Chosen extends Target {
  readonly because: string;
}

/** The name that always means the instance on this machine. */
export const LOCAL = "local";

export interface Wish {
  readonly profile: string | null;
  readonly url: string | null;
  readonly workspaceId: string | null;
}

/**
 * Whom a command speaks to: the environment (`BRIDGE_URL`, `BRIDGE_WORKSPACE`, `BRIDGE_TOKEN`) over the named profile,
 * over the one last signed in to, over the instance that runs on this machine. `--url` and `--workspace` replace parts.
 */
export function chooseTarget(terminal: Terminal, wish: Wish): Chosen {
  const base = baseTarget(terminal, wish.profile);
  const { env } = terminal;
  const url = wish.url ?? env["BRIDGE_URL"] ?? base?.url;
  const workspaceId = wish.workspaceId ?? env["BRIDGE_WORKSPACE"] ?? base?.workspaceId;
  const isOther = url !== undefined && base !== null && url !== base.url;
  // A token opens one instance only: it is never sent to another address.
  const token = env["BRIDGE_TOKEN"] ?? (isOther ? undefined : base?.token);
  if (isOther && token === undefined) {
    throw new CommandFailure(
      "notSignedIn",
      `there is no token for ${url}: the one of ${base.because} is for ${base.url} and goes nowhere else. ` +
        `Set BRIDGE_TOKEN, or sign in with: bridge login ${url} --workspace ID`,
    );
  }
  if (url === undefined || workspaceId === undefined || token === undefined) throw notSignedIn(terminal);
  return { url: url.replace(/(?<!\/)\/+$/, ""), workspaceId, token, because: base?.because ?? "the environment" };
}

function baseTarget(terminal: Terminal, profile: string | null): Chosen | null {
  if (profile === LOCAL) return localInstance(terminal) ?? refuseNoLocal(terminal);
  const kept = readProfiles(terminal.env);
  if (profile !== null) {
    const found = kept.profiles[profile];
    if (found) return { ...found, because: `profile ${profile}` };
    const known = Object.keys(kept.profiles).join(", ") || "none";
    throw new CommandFailure("notFound", `there is no profile ${profile}; known: ${known}. Make it with: bridge login`);
  }
  const current = kept.current === null ? undefined : kept.profiles[kept.current];
  return current ? { ...current, because: `profile ${kept.current}` } : localInstance(terminal);
}

/** The demo of the instance that `npm start` runs on this machine; null without one. */
export function localInstance(terminal: Terminal): Chosen | null {
  const { base_url: url, workspace_id, api_token } = readInstance(terminal);
  if (typeof url !== "string" || typeof workspace_id !== "string" || typeof api_token !== "string") return null;
  const because = `the local instance (${instanceFile(terminal.env, terminal.folder)})`;
  return { url, workspaceId: workspace_id, token: api_token, because };
}

/** The address of that instance, also without a demo; null when its file is not there. */
export function localUrl(terminal: Terminal): string | null {
  const { base_url } = readInstance(terminal);
  return typeof base_url === "string" ? base_url : null;
}

function readInstance({ env, folder }: Terminal): Readonly<Record<string, unknown>> {
  const file = instanceFile(env, folder);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, unknown>>) : {};
}

/** In `BRIDGE_DATA_DIR`, else in `.bridge` of this folder or the nearest one above that has it. */
export function instanceFile(env: Terminal["env"], folder: string): string {
  if (env["BRIDGE_DATA_DIR"]) return resolve(folder, env["BRIDGE_DATA_DIR"], "instance.json");
  for (let above = folder; ; above = dirname(above)) {
    const file = join(above, ".bridge", "instance.json");
    if (existsSync(file)) return file;
    if (dirname(above) === above) return join(folder, ".bridge", "instance.json");
  }
}

function refuseNoLocal({ env, folder }: Terminal): never {
  throw new CommandFailure(
    "notSignedIn",
    `no local instance: ${instanceFile(env, folder)} is not there. Start one with: npm start`,
  );
}

function notSignedIn({ env, folder }: Terminal): CommandFailure {
  return new CommandFailure(
    "notSignedIn",
    `not signed in, and no instance runs here (${instanceFile(env, folder)} is not there). ` +
      "Sign in with: bridge login URL --workspace ID, or start an instance with: npm start",
  );
}

/** `$XDG_CONFIG_HOME/bridge/config.json` (XDG Base Directory Specification). */
export function profilesFile(env: Terminal["env"]): string {
  return join(env["XDG_CONFIG_HOME"] || join(env["HOME"] ?? homedir(), ".config"), "bridge", "config.json");
}

/** What was kept, or nothing. */
export function readProfiles(env: Terminal["env"]): Profiles {
  const file = profilesFile(env);
  if (!existsSync(file)) return { current: null, profiles: {} };
  if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0) {
    throw new CommandFailure(
      "usage",
      `${file} holds tokens and others may read it; correct it with: chmod 600 ${file}`,
    );
  }
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Profiles;
  } catch (error) {
    throw new CommandFailure("usage", `${file} is not JSON; correct or delete it, then sign in again`, {
      cause: error,
    });
  }
}

/** Keeps them in the place of what was there, whole or not at all. */
export function writeProfiles(env: Terminal["env"], profiles: Profiles): void {
  const file = profilesFile(env);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}
