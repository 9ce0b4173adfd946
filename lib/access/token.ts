import { createHmac, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { base62 } from "../model/id.ts";
import type { Scope } from "../model/workspace/token.ts";
import type { PepperKey, TokenHash } from "./ports.ts";

/**
 * What an API token looks like: `brg_`, the letter of its widest scope, 43 base-62 digits of 256 random bits, and 6
 * that check the rest, so that a scanner needs no lookup and a mistyped token costs none.
 */
export const TOKEN_PATTERN = /^brg_[roa][0-9A-Za-z]{49}$/;

const CHECKSUM_LENGTH = 6;

const LETTER_OF: Record<Scope, string> = { read: "r", operate: "o", admin: "a" };

/** A new token whose widest scope is `scope`. It is shown once and never kept. */
export function mintToken(scope: Scope): string {
  const unchecked = `brg_${LETTER_OF[scope]}${base62(randomBytes(32), 43)}`;
  return unchecked + checksum(unchecked);
}

/** Whether `text` can be a token at all: its form and its checksum are right. */
export function isWellFormed(text: string): boolean {
  return TOKEN_PATTERN.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

/** What is kept of a token. */
export function tokenHash(token: string, { number, key }: PepperKey): TokenHash {
  return { hash: createHmac("sha256", key).update(token).digest("hex"), pepper: number };
}

function checksum(text: string): string {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, crc32(text));
  return base62(bytes, CHECKSUM_LENGTH);
}
