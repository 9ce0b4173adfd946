import type { Clock } from "../clock.ts";
import type { Database } from "../store/database.ts";
import { hashOf, type Identity, jsonWebToken, sessionToken } from "./bootstrap.ts";

const SESSION_MS = 2 * 3600 * 1000;

/** Who is behind a request. */
export interface Session {
  readonly token: string;
  readonly userId: string;
}

/** Access tokens: two hours of life, refreshed by use; the administrator's own never ends (salesforce-facts 1.1). */
export class Sessions {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #identity: Identity;
  readonly #fresh = new Map<string, number>();

  constructor({ database, clock, identity }: { database: Database; clock: Clock; identity: Identity }) {
    this.#database = database;
    this.#clock = clock;
    this.#identity = identity;
  }

  /** The user of these credentials, null if they are wrong. A security token after the password is accepted. */
  userOf(username: string, password: string): string | null {
    const row = this.#database.first("SELECT user_id, password FROM _credential WHERE username = ?", username);
    if (!row) return null;
    const isRight = [password, password.slice(0, -24)].some((candidate) => hashOf(candidate) === row["password"]);
    return isRight ? String(row["user_id"]) : null;
  }

  /** The user with this name, whatever the password: for JWT assertions, which carry their own proof. */
  userNamed(username: string): string | null {
    const row = this.#database.first("SELECT user_id FROM _credential WHERE username = ?", username);
    return row ? String(row["user_id"]) : null;
  }

  /** From now on the user comes in with this password. */
  setPassword(userId: string, username: string, password: string): void {
    this.#database.run("INSERT OR REPLACE INTO _credential VALUES (?, ?, ?)", username, hashOf(password), userId);
  }

  /** A new session's token, which is a JSON Web Token where an app asks in an org that issues them. */
  open(userId: string, isJwt = false): string {
    const { organizationId } = this.#identity;
    const token = isJwt ? jsonWebToken(organizationId, userId) : sessionToken(organizationId);
    this.#database.run(
      "INSERT INTO _session VALUES (?, ?, ?)",
      token,
      userId,
      this.#clock.now().getTime() + SESSION_MS,
    );
    return token;
  }

  /** The session of a token, null if there is none or it has expired. */
  find(token: string): Session | null {
    const row = this.#database.first("SELECT user_id, expires_at FROM _session WHERE token = ?", token);
    if (!row) return null;
    const now = this.#clock.now().getTime();
    if (row["expires_at"] !== null) {
      if (Number(row["expires_at"]) <= now) return null;
      this.#refresh(token, now);
    }
    return { token, userId: String(row["user_id"]) };
  }

  end(token: string): void {
    this.#database.run("DELETE FROM _session WHERE token = ? AND token <> ?", token, this.#identity.accessToken);
  }

  /** Ends all sessions but the administrator's own. */
  endAll(): void {
    this.#database.run("DELETE FROM _session WHERE expires_at IS NOT NULL");
  }

  /** Written at most once a minute. */
  #refresh(token: string, now: number): void {
    if (now - (this.#fresh.get(token) ?? 0) < 60_000) return;
    this.#fresh.set(token, now);
    this.#database.run("UPDATE _session SET expires_at = ? WHERE token = ?", now + SESSION_MS, token);
  }
}
