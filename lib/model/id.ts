const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** `bytes` as a number in base 62, most significant digit first, padded with zeros to `length` digits. */
export function base62(bytes: Uint8Array, length: number): string {
  let rest = bytes.reduce((number, byte) => number * 256n + BigInt(byte), 0n);
  let written = "";
  while (written.length < length) {
    written = eightDigits(Number(rest % EIGHT_DIGITS)) + written;
    rest /= EIGHT_DIGITS;
  }
  return written.slice(-length);
}

/** As many digits as a number holds exactly: large integers are slow to divide. */
const EIGHT_DIGITS = 62n ** 8n;

function eightDigits(value: number): string {
  let [rest, digits] = [value, ""];
  for (let at = 0; at < 8; at += 1) {
    digits = DIGITS.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** A new identifier that nobody can guess (128 random bits) and a reader can place: `map_4Fz…`. */
export function newId(
  kind: "ws" | "map" | "tok" | "aud" | "bl" | "imp" | "evt" | "whk" | "dlv" | "req" | "run",
): string {
  return `${kind}_${base62(crypto.getRandomValues(new Uint8Array(16)), 22)}`;
}
