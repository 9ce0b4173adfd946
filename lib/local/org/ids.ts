const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const CHECKSUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345";

/** The 18-character record id of the n-th record of an object; ids sort by age. */
export function recordId(keyPrefix: string, serial: number): string {
  return longId(`${keyPrefix}Hs0${base62(serial).padStart(9, "0")}`);
}

function base62(serial: number): string {
  let text = "";
  for (let rest = serial; rest > 0; rest = Math.floor(rest / 62)) text = BASE62.charAt(rest % 62) + text;
  return text;
}

/** The 18-character form of a 15- or 18-character id, or null if it is no id at all. */
export function normalizeId(id: string): string | null {
  if (id.length === 18 && /^[a-zA-Z0-9]{18}$/.test(id)) return longId(id.slice(0, 15));
  return /^[a-zA-Z0-9]{15}$/.test(id) ? longId(id) : null;
}

/** Three characters that say which letters are capitals, so that the id survives systems without case. */
function longId(id15: string): string {
  let suffix = "";
  for (let part = 0; part < 3; part++) {
    let bits = 0;
    for (let at = 0; at < 5; at++) {
      const code = id15.charCodeAt(part * 5 + at);
      if (code >= 65 && code <= 90) bits |= 1 << at;
    }
    suffix += CHECKSUM.charAt(bits);
  }
  return id15 + suffix;
}
