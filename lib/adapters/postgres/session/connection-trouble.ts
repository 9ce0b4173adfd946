import { codeOf } from "../../../model/fault.ts";

const UNVERIFIED =
  "pin it with ?sslfingerprint=…, which is printed by: openssl s_client -starttls postgres -connect HOST:PORT </dev/null | openssl x509 -noout -fingerprint -sha256; or install one from a public authority";

type Trouble = readonly [message: string, remedy: string];

/** By SQLSTATE, by the code of Node, or by the little that the driver says in words. */
const TROUBLE: Readonly<Record<string, Trouble>> = {
  "28P01": [
    "the database refuses this user and password",
    "check both in the URL; special characters must be %-encoded",
  ],
  "28000": ["the database does not let this user in from here", "look at pg_hba.conf, or add ?sslmode=verify-full"],
  "3D000": ["the server has no database of this name", "check the part after the host in the URL"],
  "53300": ["the server has no connection left", "raise max_connections, or connect through a pooler"],
  "57P03": ["the server is starting up or shutting down", "try again in a minute"],
  ECONNREFUSED: [
    "no server listens at this host and port",
    "check both, and whether the server takes remote connections",
  ],
  ENOTFOUND: ["the host name does not exist", "check the host in the URL"],
  EAI_AGAIN: ["the host name could not be resolved now", "try again in a minute"],
  EHOSTREFUSED: [
    "the host points to an address that this service does not connect to",
    "use a public address, or ask the operator to open its range (openedRanges)",
  ],
  ETIMEDOUT: ["the host does not answer", "check host, port and firewall"],
  EHOSTUNREACH: ["the host cannot be reached", "check host, port and firewall"],
  ENETUNREACH: ["the host's network cannot be reached", "check host, port and firewall"],
  ECONNRESET: ["the server closed the connection", "check host and port; is it PostgreSQL?"],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["the server's certificate is self-signed", UNVERIFIED],
  SELF_SIGNED_CERT_IN_CHAIN: ["the server's certificate comes from an unknown authority", UNVERIFIED],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ["the server's certificate comes from an unknown authority", UNVERIFIED],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ["the server's certificate comes from an unknown authority", UNVERIFIED],
  CERT_HAS_EXPIRED: ["the server's certificate has expired", "renew it"],
  ERR_TLS_CERT_ALTNAME_INVALID: ["the server's certificate is for another host name", "use that name in the URL"],
};

/** What an operator is shown of a connection that did not come about. */
export function connectionTrouble(error: unknown): { readonly message: string; readonly remedy: string } {
  const code = codeOf(error);
  const words = `${code} ${String(error)}`;
  const [message, remedy] = TROUBLE[code] ?? IN_WORDS.find(([said]) => said.test(words))?.[1] ?? UNKNOWN;
  return { message: code === "" ? message : `${message} (${code})`, remedy };
}

const IN_WORDS: readonly (readonly [RegExp, Trouble])[] = [
  [/timeout|timed out/i, ["the host does not answer", "check host, port and firewall"]],
  [/certificate|self.signed|SSL|TLS/i, ["the server's TLS certificate was not accepted", UNVERIFIED]],
];

const UNKNOWN: Trouble = ["no connection came about", "check the URL"];
