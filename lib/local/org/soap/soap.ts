import type { Session } from "../access/sessions.ts";
import { type Call, nameOf, type Reply } from "../http/call.ts";
import type { Parts } from "../parts.ts";
import { Refusal } from "../refusal.ts";
import { faultReply, soapReply } from "./envelope.ts";
import { getUserInfo, login } from "./login.ts";
import { merge } from "./merge.ts";
import { create, deleteIds, undelete, update, upsert } from "./saves.ts";
import type { Operation } from "./soap-call.ts";
import { child, parseEnvelope, textOf } from "./xml.ts";

const OPERATIONS: Readonly<Record<string, Operation>> = {
  create,
  update,
  upsert,
  delete: deleteIds,
  undelete,
  merge,
  getUserInfo,
};

/** SOAP takes JSON Web Tokens from this version on; below it says of one what it says of no session at all. */
const JWT_SINCE = 68;

/** Other tokens have an exclamation mark behind the org's id. */
const isJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);

/** The SOAP partner protocol. `admit` checks the session and counts the call. */
export async function answerSoap(parts: Parts, call: Call, admit: (token: string) => Session): Promise<Reply> {
  try {
    const { header, operation, input } = parseEnvelope(call.body.toString("utf8"));
    const version = /\/services\/Soap\/[uc]\/(\d+\.\d+)/i.exec(call.path)?.[1] ?? "66.0";
    if (Number(version) > parts.release.newestVersion)
      throw new Refusal("UNSUPPORTED_API_VERSION", "Invalid Api version specified on URL");
    if (operation === "login") return soapReply(login(parts, input, { origin: call.origin, version }), null);
    const token = textOf(child(child(header, "SessionHeader"), "sessionId")).trim();
    if (Number(version) < JWT_SINCE && isJwt(token)) throw new Refusal("INVALID_SESSION_ID", "Invalid Session ID");
    const session = admit(token);
    const run = Object.hasOwn(OPERATIONS, operation) ? OPERATIONS[operation] : undefined;
    if (!run)
      throw new Refusal(
        "INVALID_OPERATION",
        `No operation available for request {urn:partner.soap.sforce.com}${operation}`,
      );
    const inner = await run({
      parts: parts.fieldAccess.partsOf(parts, session.userId),
      session,
      header,
      input,
      name: `${nameOf(call)} ${operation}`,
    });
    return soapReply(`<${operation}Response>${inner}</${operation}Response>`, parts.calls);
  } catch (error) {
    return faultReply(error);
  }
}
