/** Longer paths are cut: a hostile key must not come back as a hostile answer. */
const MAX_LENGTH = 200;

/** Where a bad part of a request is, as its sender would write it: `mappings[3].config.upsert_field`. */
export function detailPath(parts: readonly PropertyKey[]): string {
  const text = parts.reduce<string>((path, part) => {
    if (typeof part === "number") return `${path}[${part}]`;
    return path === "" ? String(part) : `${path}.${String(part)}`;
  }, "");
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}
