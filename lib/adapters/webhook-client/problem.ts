import { ATTEMPT_SECONDS } from "../../model/delivery/delivery.ts";
import { codeOf } from "../../model/fault.ts";
import { AddressRefused } from "./guard.ts";

/** What an attempt was waiting for when it ended. */
export type Stage = "the name's address" | "the connection" | "the TLS handshake" | "the status line";

/** The time for an attempt is up. */
export class TimeIsUp extends Error {
  constructor() {
    super(`no answer within ${ATTEMPT_SECONDS} seconds`);
    this.name = "TimeIsUp";
  }
}

const WORDS: Readonly<Record<string, string>> = {
  ENOTFOUND: "the host name does not exist",
  ENODATA: "the host name has no address",
  ESERVFAIL: "the DNS server of the host name failed",
  ETIMEOUT: "no DNS server answered",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the receiver closed the connection before it answered",
  EPIPE: "the receiver closed the connection before it answered",
  EHOSTUNREACH: "the host can't be reached",
  ENETUNREACH: "the network of the host can't be reached",
  CERT_HAS_EXPIRED: "the receiver's certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the receiver's certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the receiver's certificate chain is self-signed",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the receiver sends no complete certificate chain",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the receiver's certificate comes from an unknown authority",
  ERR_TLS_CERT_ALTNAME_INVALID: "the receiver's certificate is for another name",
  EPROTO: "the receiver does not speak TLS as it should",
  HPE_HEADER_OVERFLOW: "the answer's headers are larger than 64 KiB",
};

/** Why no status came, in words for the history of the webhook. */
export function problemOf(error: unknown, stage: Stage): string {
  if (error instanceof AddressRefused) return `refused: ${error.message}`;
  if (error instanceof TimeIsUp) return `${error.message}: still waiting for ${stage}`;
  const code = codeOf(error);
  if (stage === "the name's address" && code === "ECONNREFUSED") return "no DNS server answered (ECONNREFUSED)";
  const words =
    WORDS[code] ?? (code.startsWith("HPE_") ? "the answer is not HTTP" : `failed while waiting for ${stage}`);
  return code === "" ? words : `${words} (${code})`;
}
