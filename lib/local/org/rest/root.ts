import { ok, type RestCall, type RestReply } from "../rest-call.ts";

/** `GET /services/data/vXX.X`: where the parts of the API are. */
export function resources({ base, parts, session, origin }: RestCall): RestReply {
  const names = ["query", "queryAll", "sobjects", "limits", "composite", "jobs"];
  const listed = Object.fromEntries(names.map((name) => [name, `${base}/${name}`]));
  return ok({ ...listed, identity: `${origin}/id/${parts.identity.organizationId}/${session.userId}` });
}
