const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** `bytes` as a number in base 62, most significant digit first, padded with zeros to `length` digits. */
export function base62(bytes: Uint8Array, length: number): string {
  let rest = bytes.reduce((number, byte) => number * 256n + BigInt(byte), 0n);
  const digits: string[] = [];
  for (let at = 0; at < length; at += 1) {
    digits.push(DIGITS.charAt(Number(rest % 62n)));
    rest /= 62n;
  }
  return digits.reverse().join("");
}

/** A new identifier that nobody can guess (128 random bits) and a reader can place: `map_4Fz…`. */
export function newId(kind: "ws" | "map" | "tok" | "aud" | "bl" | "imp" | "evt" | "whk" | "dlv" | "req"): string {
  return `${kind}_${base62(crypto.getRandomValues(new Uint8Array(16)), 22)}`;
}
