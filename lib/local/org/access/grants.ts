import { randomBytes } from "node:crypto";
import type { Parts } from "../parts.ts";

const CODE_MS = 15 * 60_000;

/** A new refresh token or authorization code for a user. */
export function grantTo(
  parts: Parts,
  kind: "refresh" | "code",
  userId: string,
  detail: Readonly<Record<string, string>>,
): string {
  const secret =
    kind === "refresh"
      ? `5Aep861${randomBytes(40).toString("base64url")}`
      : `aPrx${randomBytes(30).toString("base64url")}`;
  const expiresAt = kind === "code" ? parts.clock.now().getTime() + CODE_MS : null;
  parts.database.run(
    "INSERT INTO _grant VALUES (?, ?, ?, ?, ?)",
    secret,
    kind,
    userId,
    JSON.stringify(detail),
    expiresAt,
  );
  return secret;
}

/**
 * Whom a refresh token speaks for. Where rotation was ordered, the old one ends and a new one comes with the answer; a token
 * that comes again after that revokes all that followed from it, as it may be stolen.
 */
export function redeemRefreshToken(parts: Parts, secret: string): { userId: string; refreshToken?: string } | null {
  const row = parts.database.first("SELECT kind, user_id, detail FROM _grant WHERE secret = ?", secret);
  const family = row ? String((JSON.parse(String(row["detail"])) as Record<string, string>)["family"] ?? secret) : "";
  if (row?.["kind"] === "used") {
    parts.database.run("DELETE FROM _grant WHERE secret = ? OR json_extract(detail, '$.family') = ?", family, family);
  }
  if (row?.["kind"] !== "refresh") return null;
  const userId = String(row["user_id"]);
  if (!parts.faults.on("rotatedRefreshToken", { request: "POST /services/oauth2/token" })) return { userId };
  parts.database.run("UPDATE _grant SET kind = 'used' WHERE secret = ?", secret);
  return { userId, refreshToken: grantTo(parts, "refresh", userId, { family }) };
}

/** Takes an authorization code, which works once and for fifteen minutes. */
export function takeCode(parts: Parts, secret: string): { userId: string; detail: Record<string, string> } | null {
  const row = parts.database.first(
    "DELETE FROM _grant WHERE secret = ? AND kind = 'code' RETURNING user_id, detail, expires_at",
    secret,
  );
  if (!row || Number(row["expires_at"]) <= parts.clock.now().getTime()) return null;
  return { userId: String(row["user_id"]), detail: JSON.parse(String(row["detail"])) as Record<string, string> };
}

export function revokeGrant(parts: Parts, secret: string): void {
  parts.database.run("DELETE FROM _grant WHERE secret = ?", secret);
}
