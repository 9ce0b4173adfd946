/** What a token may do: read everything, operate what runs, administer what is set. Each includes the ones before. */
export const SCOPES = ["read", "operate", "admin"] as const;

export type Scope = (typeof SCOPES)[number];

/** Whether a token with these scopes may call what asks for `needed`. */
export function allows(scopes: readonly Scope[], needed: Scope): boolean {
  return scopes.some((scope) => SCOPES.indexOf(scope) >= SCOPES.indexOf(needed));
}
