import { authorize, identityOf, revoke, userInfo } from "./access/identity.ts";
import { token } from "./access/oauth.ts";
import type { Session } from "./access/sessions.ts";
import { Housekeeping } from "./housekeeping.ts";
import { type Call, jsonReply, type Reply } from "./http/call.ts";
import type { Parts } from "./parts.ts";
import { Refusal } from "./refusal.ts";
import { versions } from "./release.ts";
import { Rest, refusalReply } from "./rest/rest.ts";
import { answerSoap } from "./soap/soap.ts";

const NOT_FOUND = jsonReply(404, [{ errorCode: "NOT_FOUND", message: "The requested resource does not exist" }]);

/** The one way into the org: knows the protocols by their paths, checks sessions and counts calls for all of them. */
export class Door {
  readonly #parts: Parts;
  readonly #rest: Rest;
  readonly #housekeeping: Housekeeping;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#rest = new Rest(parts);
    this.#housekeeping = new Housekeeping(parts);
  }

  async answer(call: Call): Promise<Reply> {
    await this.#housekeeping.look();
    const { path } = call;
    if (path === "/services/data") return jsonReply(200, versions(this.#parts.release.newestVersion));
    if (path === "/services/oauth2/token" && call.method === "POST") return token(this.#parts, call);
    if (path === "/services/oauth2/revoke") return revoke(this.#parts, call);
    if (path === "/services/oauth2/authorize") return authorize(this.#parts, call);
    if (path === "/services/oauth2/userinfo")
      return this.#known(call, (session) => userInfo(this.#parts, call, session));
    if (path.startsWith("/id/")) return this.#known(call, () => identityOf(this.#parts, call) ?? NOT_FOUND);
    if (/^\/services\/Soap\/u\//i.test(path))
      return await answerSoap(this.#parts, call, (sessionId) => this.#admit(sessionId));
    if (path.startsWith("/services/data/v")) return await this.#answerRest(call);
    return NOT_FOUND;
  }

  /** For what needs a session and is not counted. */
  #known(call: Call, answer: (session: Session) => Reply): Reply {
    const session = this.#parts.sessions.find(bearerIn(call.headers.authorization));
    return session
      ? answer(session)
      : { status: 403, headers: { "Content-Type": "text/plain" }, body: "Bad_OAuth_Token" };
  }

  async #answerRest(call: Call): Promise<Reply> {
    let session: Session;
    try {
      session = this.#admit(bearerOf(call));
    } catch (error) {
      return refusalReply(error, this.#parts.calls.header());
    }
    return await this.#rest.answer(call, session);
  }

  /** The session of a token, its call counted; refuses unknown and expired ones, and all when the day's calls are used up. */
  #admit(sessionId: string): Session {
    const session = this.#parts.sessions.find(sessionId);
    if (!session) throw new Refusal("INVALID_SESSION_ID", "Session expired or invalid", { status: 401 });
    this.#parts.calls.count();
    return session;
  }
}

/** The token of an Authorization header, empty where there is none; `OAuth` is an old name of `Bearer`. */
function bearerOf(call: Call): string {
  const { authorization } = call.headers;
  const bearer = bearerIn(authorization);
  if (authorization !== undefined && bearer === "")
    throw new Refusal("INVALID_AUTH_HEADER", "INVALID_HEADER_TYPE", { status: 401 });
  return bearer;
}

function bearerIn(authorization = ""): string {
  return /^(?:Bearer|OAuth)\s+(\S+)$/i.exec(authorization)?.[1] ?? "";
}

/** The token of a request of any protocol: of its header, or of SOAP's; empty where it has none. */
export function tokenOf({ headers, body }: Call): string {
  const inSoap = () => /<(?:\w+:)?sessionId>\s*([^<\s]+)/.exec(body.toString("utf8", 0, 4000))?.[1] ?? "";
  return bearerIn(headers.authorization) || inSoap();
}
