/** Where a database URL says that its user and password are kept: `?secret=ARN` or `?command=NAME`. */
export interface KeptAt {
  readonly kind: "secret" | "command";
  readonly name: string;
}

/** Reads what is kept there: a `postgres://` URL, or JSON with `username` and `password`. */
export type CredentialReader = (place: KeptAt) => Promise<string>;

/** Credentials that are kept elsewhere and could not be read; says where, and what helps. */
export class CredentialsUnread extends Error {
  readonly code = "ECREDENTIALS";
  override readonly name = "CredentialsUnread";
}

let read: CredentialReader = () => Promise.reject(new CredentialsUnread("credentials before their reader is set"));

/** URLs with what was read, by the URL that names the place. */
const known = new Map<string, Promise<string>>();

/** From now on this process reads credentials so. */
export function readCredentialsBy(reader: CredentialReader): void {
  read = reader;
  known.clear();
}

export function keptAt(url: string): KeptAt | null {
  const { searchParams } = new URL(url);
  for (const kind of ["secret", "command"] as const) {
    const name = searchParams.get(kind);
    if (name !== null) return { kind, name };
  }
  return null;
}

/** The URL to connect by, with its credentials as this process has read them last. Rejects with `CredentialsUnread`. */
export function withCredentials(url: string): Promise<string> {
  const place = keptAt(url);
  return place === null ? Promise.resolve(url) : (known.get(url) ?? readAnew(url, place));
}

/** The same after the database has refused `used`; null where nothing has changed since. */
export async function withNewerCredentials(url: string, used: string): Promise<string | null> {
  const place = keptAt(url);
  if (place === null) return null;
  const meanwhile = await known.get(url);
  const newer = meanwhile === undefined || meanwhile === used ? await readAnew(url, place) : meanwhile;
  return newer === used ? null : newer;
}

function readAnew(url: string, place: KeptAt): Promise<string> {
  const reading = read(place).then((text) => merged(url, place, text.trim()));
  known.set(url, reading);
  reading.catch(() => known.delete(url));
  return reading;
}

function merged(url: string, place: KeptAt, text: string): string {
  const merged = new URL(url);
  const kept = URL.parse(text);
  if (kept !== null && /^postgres(ql)?:$/.test(kept.protocol)) {
    for (const part of ["username", "password", "hostname", "port", "pathname"] as const) merged[part] = kept[part];
    for (const [name, value] of kept.searchParams)
      if (!merged.searchParams.has(name)) merged.searchParams.set(name, value);
    return merged.href;
  }
  const { username, password } = objectIn(text);
  if (typeof username !== "string" || typeof password !== "string") {
    throw new CredentialsUnread(`${nameOf(place)} has neither a postgres:// URL nor JSON with username and password`);
  }
  merged.username = encodeURIComponent(username);
  merged.password = encodeURIComponent(password);
  return merged.href;
}

export const nameOf = ({ kind, name }: KeptAt): string => `the ${kind} ${name}`;

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
