import type { Parts } from "../parts.ts";

/** What went wrong with a token request, in OAuth's words (salesforce-facts 1.1). */
export class OAuthRefusal extends Error {
  readonly error: string;

  constructor(error: string, description: string) {
    super(description);
    this.error = error;
  }
}

/** Whom a grant speaks for, and the refresh token to hand out with it, if any. */
export interface Granted {
  readonly userId: string;
  readonly refreshToken?: string;
}

/** A token request, as a form. */
export interface TokenRequest {
  readonly parts: Parts;
  readonly form: URLSearchParams;
  readonly origin: string;
}

/** Refuses an unknown client, or a wrong secret where one was sent or is needed. */
export function checkClient({ parts: { identity }, form }: TokenRequest, needsSecret: boolean): void {
  if (form.get("client_id") !== identity.clientId)
    throw new OAuthRefusal("invalid_client_id", "client identifier invalid");
  const secret = form.get("client_secret");
  if (secret === null && !needsSecret) return;
  if (secret !== identity.clientSecret) throw new OAuthRefusal("invalid_client", "invalid client credentials");
}
