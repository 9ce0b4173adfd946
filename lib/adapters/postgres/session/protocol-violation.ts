/** What a server said that is none of PostgreSQL's protocol, or no sign-in that the driver has; without values of rows. */
export class ProtocolViolation extends Error {
  readonly code = "EPROTOCOL";
  override readonly name = "ProtocolViolation";
}

export const violation = (what: string, cause?: unknown): ProtocolViolation =>
  new ProtocolViolation(`the server does not speak PostgreSQL's protocol: ${what}`, { cause });

/** By how the driver, which has no codes for these, begins its words. */
const MEANINGS: readonly (readonly [words: RegExp, meaning: string])[] = [
  [/^SASL: .* client password must be/, "the server wants a password, and the database URL has none"],
  [/^SASL: /, "the server's part of the sign-in is not right; use scram-sha-256 in pg_hba.conf"],
  [/^The server does not support SSL/, "the server does not speak TLS; turn it on, or add ?sslmode=disable to the URL"],
  [/^(There was an error establishing an SSL|Received unexpected)/, violation("a message out of turn").message],
];

/** The driver's error, or what its words mean. */
export function withCode(error: unknown): unknown {
  if (!(error instanceof Error) || "code" in error) return error;
  const [, meaning] = MEANINGS.find(([words]) => words.test(error.message)) ?? [];
  return meaning === undefined ? error : new ProtocolViolation(meaning, { cause: error });
}
