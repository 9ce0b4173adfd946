const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** `bytes` as a number in base 62, most significant digit first, padded with zeros to `length` digits. */
export function base62(bytes: Uint8Array, length: number): string {
  let rest = bytes.reduce((number, byte) => number * 256n + BigInt(byte), 0n);
  let written = "";
  while (written.length < length) {
    written = DIGITS.charAt(Number(rest % 62n)) + written;
    rest /= 62n;
  }
  return written;
}

/** A new identifier that cannot be guessed (128 random bits) and shows its kind: `map_4Fz…`. */
export function newId(
  kind: "ws" | "map" | "tok" | "aud" | "bl" | "imp" | "evt" | "whk" | "dlv" | "req" | "run" | "cyc",
): string {
  return `${kind}_${base62(crypto.getRandomValues(new Uint8Array(16)), 22)}`;
}
