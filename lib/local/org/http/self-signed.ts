import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type { Tls } from "./server.ts";

const DAY_MS = 24 * 3600 * 1000;
const VALID_DAYS = 825;

/** A self-signed certificate for localhost, 127.0.0.1 and ::1, with its key: X.509 v3 over P-256 (RFC 5280). */
export function selfSigned(now: Date): Tls {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(set(sequence(identifier("550403"), tlv(0x0c, Buffer.from("localhost")))));
  const body = sequence(
    tlv(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ECDSA_SHA256,
    name,
    sequence(time(new Date(now.getTime() - DAY_MS)), time(new Date(now.getTime() + VALID_DAYS * DAY_MS))),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    tlv(0xa3, sequence(alternativeNames(), ownAuthority())),
  );
  const certificate = sequence(
    body,
    ECDSA_SHA256,
    tlv(0x03, Buffer.concat([Buffer.from([0]), sign("sha256", body, privateKey)])),
  );
  return { key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(), cert: pem(certificate) };
}

const ECDSA_SHA256 = sequence(identifier("2a8648ce3d040302"));

function alternativeNames(): Buffer {
  const names = [
    tlv(0x82, Buffer.from("localhost")),
    tlv(0x87, Buffer.from([127, 0, 0, 1])),
    tlv(0x87, Buffer.from([...new Array<number>(15).fill(0), 1])),
  ];
  return sequence(identifier("551d11"), tlv(0x04, sequence(...names)));
}

/** The certificate is its own authority, so that it can be trusted alone. */
function ownAuthority(): Buffer {
  return sequence(
    identifier("551d13"),
    tlv(0x01, Buffer.from([0xff])),
    tlv(0x04, sequence(tlv(0x01, Buffer.from([0xff])))),
  );
}

/** Type, length and value of a DER element. */
function tlv(type: number, value: Buffer): Buffer {
  const size = value.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([type, ...length]), value]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tlv(0x30, Buffer.concat(parts));
}

function set(...parts: readonly Buffer[]): Buffer {
  return tlv(0x31, Buffer.concat(parts));
}

function integer(bytes: Buffer): Buffer {
  return tlv(0x02, bytes);
}

function identifier(hex: string): Buffer {
  return tlv(0x06, Buffer.from(hex, "hex"));
}

function time(date: Date): Buffer {
  return tlv(0x18, Buffer.from(`${date.toISOString().replace(/\D/g, "").slice(0, 14)}Z`));
}

function pem(der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
