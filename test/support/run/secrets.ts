import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isWellFormed } from "../../../lib/access/token.ts";
import { searchFor } from "./search-for.ts";

/** Secrets that are recognised by their form alone: API tokens (by their checksum), signing secrets, sessions of the org. */
const FORMS: readonly (readonly [RegExp, (text: string) => boolean])[] = [
  [/brg_[roa][0-9A-Za-z]{49}/g, isWellFormed],
  [/whsec_[A-Za-z0-9+/]{43}=/g, (text) => !isSample(text)],
  [/00D[0-9A-Za-z]{12}(?:[0-9A-Za-z]{3})?![0-9A-Za-z._]{40,}/g, () => true],
];

/** A signing secret of the docs says in words that it is a sample; random bytes say nothing. */
function isSample(secret: string): boolean {
  return /^[a-z ,]{32}$/.test(Buffer.from(secret.slice("whsec_".length), "base64").toString("latin1"));
}

/** The same as expressions of PostgreSQL, which knows no checksum. */
export const SQL_FORMS = FORMS.map(([{ source }]) => source.replaceAll("(?:", "("));

const kept = new Map<string, readonly string[]>();

/** Whether a text has any spelling of any secret kept; null: some came or went. */
let hasKept: ((text: string) => boolean) | null = null;

/** Those that every file of this process has, as the password of the PostgreSQL that they share. */
const shared = new Set<string>();

/**
 * Registers a secret without a form of its own, a password or a client's secret, so that it is looked for. What tests
 * make up to be refused is no secret.
 */
export function keepSecret(value: string, { isShared = false } = {}): void {
  if (value.length >= 12 && /[A-Za-z]/.test(value) && /\d/.test(value)) kept.set(value, spellings(value));
  hasKept = null;
  if (isShared) shared.add(value);
}

/** Leaves the secrets of the test file that has ended: each is looked for in every text. */
export function forgetSecrets(): void {
  for (const secret of kept.keys()) if (!shared.has(secret)) kept.delete(secret);
  hasKept = null;
}

/** The secrets that were kept so far. */
export const keptSecrets = (): readonly string[] => [...kept.keys()];

/** As it is, in a URL, in JSON, and in the base 64 of anything that contains it. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const inBase64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    return text.slice(before === 0 ? 0 : before + 1).replace(/.{0,2}=*$/, "");
  });
  return [...new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...inBase64])];
}

/** Every secret that can be read in a text, shortened so that the report does not show it. */
export function secretsIn(text: string): string[] {
  const formed = FORMS.flatMap(([form, isSecret]) => (text.match(form) ?? []).filter(isSecret));
  hasKept ??= searchFor([...kept.values()].flat());
  const isKept = ([, forms]: readonly [string, readonly string[]]) => forms.some((form) => text.includes(form));
  const known = hasKept(text) ? [...kept].filter(isKept).map(([secret]) => secret) : [];
  return [...new Set([...formed, ...known])].map((secret) => `${secret.slice(0, 9)}…`);
}

/** Throws when a secret can be read there. */
export function refuseSecrets(place: string, text: string): void {
  const found = secretsIn(text);
  if (found.length > 0) throw new Error(`${place} holds ${found.length} secrets in plaintext: ${found.join(", ")}`);
}

/** Throws when a secret can be read in a file of the folder, whatever the file's format; `except`: names left out. */
export function refuseSecretsInFolder(folder: string, except: readonly string[] = []): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (except.includes(entry.name)) continue;
    if (entry.isDirectory()) refuseSecretsInFolder(path, except);
    else if (entry.isFile()) for (const text of partsOf(path)) refuseSecrets(path, text);
  }
}

/** A file is searched in parts of this many bytes, since no string holds half a gigabyte. */
const PART = 64 * 1024 * 1024;
/** Each part ends with the beginning of the next, in which a secret may end. */
const OVERLAP = 16 * 1024;

function* partsOf(path: string): Generator<string> {
  const bytes = readFileSync(path);
  for (let from = 0; from < bytes.length; from += PART) yield bytes.toString("latin1", from, from + PART + OVERLAP);
}

/** Operations whose good answers show a secret, once. */
const SHOWING: ReadonlySet<string> = new Set([
  "create-token",
  "accept-invitation",
  "create-webhook",
  "rotate-webhook-secret",
]);

/** Throws when an answer shows a secret that is not its own to show. */
export function refuseSecretsInAnswer(operation: string, status: number, text: string): void {
  if (status === 200 && SHOWING.has(operation)) return;
  refuseSecrets(`an answer of ${operation}`, text);
}

/** Keeps what a request that was granted gave away: passwords, secrets, keys. */
export function keepSecretsOf(body: unknown): void {
  if (typeof body !== "object" || body === null) return;
  for (const [key, value] of Object.entries(body)) {
    if (typeof value !== "string") keepSecretsOf(value);
    else if (/^(password|client_secret|refresh_token|private_key)$/.test(key)) keepSecret(value);
    else if (key === "url") keepSecret(passwordIn(value));
  }
}

/** The password of a URL, decoded; empty when it has none. */
export function passwordIn(url: string): string {
  return URL.canParse(url) ? decodeURIComponent(new URL(url).password) : "";
}
