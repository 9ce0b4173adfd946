import type { ConnectionOptions as TlsOptions } from "node:tls";
import { Failure } from "../../../model/failure.ts";

/** Where and how to connect, as `pg` wants it. */
export interface ConnectionOptions {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly ssl: false | TlsOptions;
}

/**
 * Reads `postgres://user:password@host:port/database?sslmode=…`. TLS is verified unless the URL says otherwise:
 * `disable` (none), `no-verify` (any certificate), `verify-ca` (any host name). `sslfingerprint` pins one certificate
 * instead, also a self-signed one, by its SHA-256; `checkCertificate` compares it. A loopback address without either is
 * used without TLS, since nothing leaves the machine. Other parameters are ignored, above all those that would read
 * files of the service (`sslrootcert`, `sslkey`, `service` …), because the URL is a customer's.
 */
export function connectionOptions(url: string): ConnectionOptions {
  const parsed = parse(url);
  const host = decodeURIComponent(parsed.hostname).replace(/^\[(.*)\]$/, "$1");
  return {
    host,
    port: parsed.port === "" ? 5432 : Number(parsed.port),
    user: decodeURIComponent(parsed.username),
    password: decodeURIComponent(parsed.password),
    database: decodeURIComponent(parsed.pathname.slice(1)) || decodeURIComponent(parsed.username),
    ssl: pinnedIn(url) === null ? tls(parsed.searchParams.get("sslmode"), host) : { rejectUnauthorized: false },
  };
}

/** The SHA-256 of the one certificate that the URL trusts, as 64 hexadecimal digits; null: it pins none. */
export function pinnedIn(url: string): string | null {
  const given = parse(url).searchParams.get("sslfingerprint");
  const digits = given?.replaceAll(":", "").toUpperCase() ?? null;
  if (digits === null || /^[0-9A-F]{64}$/.test(digits)) return digits;
  throw new Failure("VALIDATION_ERROR", "sslfingerprint must be the SHA-256 of the certificate, 64 hexadecimal digits");
}

function parse(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !["postgres:", "postgresql:"].includes(parsed.protocol) || !parsed.hostname) {
    throw new Failure(
      "VALIDATION_ERROR",
      "the database URL must look like postgres://user:password@host:5432/database?sslmode=verify-full",
    );
  }
  return parsed;
}

function tls(mode: string | null, host: string): false | TlsOptions {
  if (mode === "disable" || (mode === null && isLoopback(host))) return false;
  if (mode === "no-verify") return { rejectUnauthorized: false };
  if (mode === "verify-ca") return { rejectUnauthorized: true, checkServerIdentity: () => undefined };
  return { rejectUnauthorized: true };
}

const isLoopback = (host: string) => host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
