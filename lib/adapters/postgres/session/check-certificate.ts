import { TLSSocket } from "node:tls";
import type { Client } from "pg";
import { pinnedIn } from "./connection-options.ts";
import { ProtocolViolation } from "./protocol-violation.ts";

/** Ends the connection, before the password is sent, where the server shows another certificate than the URL pins. */
export function checkCertificate({ connection }: Client, url: string): void {
  const pinned = pinnedIn(url);
  if (pinned === null) return;
  connection.once("sslconnect", () => {
    const { stream } = connection;
    stream.once("secureConnect", () => {
      const shown = stream instanceof TLSSocket ? (stream.getPeerX509Certificate()?.fingerprint256 ?? "") : "";
      if (shown.replaceAll(":", "") === pinned) return;
      const words = `the server's certificate is not the pinned one: its SHA-256 is ${shown}; if that is right, put it into sslfingerprint`;
      stream.destroy(new ProtocolViolation(words));
    });
  });
}
