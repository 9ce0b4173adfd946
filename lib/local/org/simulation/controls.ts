import * as z from "zod";
import { tokenOf } from "../answer-request.ts";
import { stampOf } from "../clock.ts";
import { type Call, emptyReply, jsonReply, type Reply } from "../http/call.ts";
import type { Parts } from "../parts.ts";
import { Refusal } from "../refusal.ts";
import { purgeDeleteLog } from "../rest/replication.ts";
import { ownSaving } from "../saving/saving.ts";
import { faultSchema } from "./faults.ts";
import type { Journal } from "./journal.ts";
import { outboundSchema } from "./outbound-messages.ts";
import type { ShiftedClock } from "./shifted-clock.ts";

interface Controlled {
  readonly parts: Parts;
  readonly journal: Journal;
  readonly clock: ShiftedClock;
}

type Control = (controlled: Controlled, call: Call, id: string) => Reply | Promise<Reply>;

const callsSchema = z.strictObject({
  used: z.int().nonnegative().optional(),
  allowance: z.int().nonnegative().optional(),
});
const releaseSchema = z.strictObject({
  newestVersion: z.int().min(45).max(68).optional(),
  jsonWebTokens: z.boolean().optional(),
  audiences: z.array(z.string()).nullable().optional(),
  scopes: z.array(z.string()).nullable().optional(),
});
const archiveSchema = z.strictObject({ before: z.iso.datetime() });
const modeSchema = z.strictObject({ readOnly: z.boolean().optional(), storageFull: z.boolean().optional() });
const fieldAccessSchema = z.strictObject({
  username: z.string(),
  object: z.string(),
  field: z.string(),
  read: z.boolean().default(true),
  edit: z.boolean().default(false),
});
const clockSchema = z.strictObject({ advanceMilliseconds: z.int() });

/** The control endpoints: `METHOD /_sim/…`, with the last segment where it is an id. */
const CONTROLS: Readonly<Record<string, Control>> = {
  "GET faults": ({ parts }) => jsonReply(200, parts.faults.list()),
  "POST faults": ({ parts }, call) => jsonReply(201, { id: parts.faults.order(faultSchema.parse(bodyOf(call))) }),
  "DELETE faults": ({ parts }, _, id) => {
    parts.faults.clear(id === "" ? undefined : Number(id));
    return emptyReply(204);
  },
  "GET gates": async ({ parts }, _, id) =>
    (await parts.faults.reached(Number(id))) ? emptyReply(204) : jsonReply(404, { error: `no gate ${id} was ordered` }),
  "GET requests": ({ journal }) => jsonReply(200, journal.entries()),
  "DELETE requests": ({ journal }) => {
    journal.clear();
    return emptyReply(204);
  },
  "GET calls": ({ parts }) => jsonReply(200, { used: parts.calls.used, allowance: parts.calls.allowance }),
  "PUT calls": ({ parts }, call) => {
    const { used, allowance } = callsSchema.parse(bodyOf(call));
    if (used !== undefined) parts.calls.setUsed(used);
    if (allowance !== undefined) parts.calls.allowance = allowance;
    return jsonReply(200, { used: parts.calls.used, allowance: parts.calls.allowance });
  },
  "PUT release": ({ parts }, call) => jsonReply(200, Object.assign(parts.release, releaseSchema.parse(bodyOf(call)))),
  "PUT field-access": ({ parts }, call) => {
    const { username, ...right } = fieldAccessSchema.parse(bodyOf(call));
    const [user] = parts.records.findBy(parts.catalog.get("User"), "Username", username);
    if (!user) return jsonReply(404, { error: `no user ${username}` });
    parts.fieldAccess.set(String(user["Id"]), right);
    return jsonReply(200, right);
  },
  "PUT mode": ({ parts }, call) => jsonReply(200, Object.assign(parts.mode, modeSchema.parse(bodyOf(call)))),
  "GET outbound": ({ parts }) => jsonReply(200, parts.outbound.describe()),
  "PUT outbound": ({ parts }, call) => {
    parts.outbound.set(outboundSchema.parse(bodyOf(call)).messages);
    return jsonReply(200, parts.outbound.describe());
  },
  "POST clock": ({ parts, clock }, call) => {
    clock.advance(clockSchema.parse(bodyOf(call)).advanceMilliseconds);
    parts.outbound.look();
    return jsonReply(200, { now: parts.clock.now().toISOString() });
  },
  "DELETE sessions": ({ parts }) => {
    parts.sessions.endAll();
    return emptyReply(204);
  },
  "DELETE locators": ({ parts }) => {
    parts.queries.cursors.closeAll();
    return emptyReply(204);
  },
  "DELETE delete-log": ({ parts }) => {
    purgeDeleteLog(parts);
    return emptyReply(204);
  },
  "DELETE recycle-bin": emptyRecycleBin,
  "POST archive": archiveActivities,
  "GET transactions": ({ parts }) =>
    jsonReply(200, { oldestStart: parts.transactions.oldestStart?.toISOString() ?? null }),
};

function emptyRecycleBin({ parts }: Controlled): Reply {
  const roots = parts.database.all("SELECT DISTINCT root FROM _bin").map((row) => String(row["root"]));
  const saving = ownSaving(parts.identity.userId, parts.clock.now());
  parts.database.transaction(() => parts.dml.hardDelete(roots, saving));
  return jsonReply(200, { removed: roots.length });
}

/** Archives the activities that were created before a time, as Salesforce does after a year; their stamps stay. */
function archiveActivities({ parts }: Controlled, call: Call): Reply {
  const { before } = archiveSchema.parse(bodyOf(call));
  const until = stampOf(new Date(before));
  const archived = ["Task", "Event"].map((name) =>
    parts.database.run(`UPDATE "${name}" SET "IsArchived" = 1 WHERE "IsArchived" = 0 AND "CreatedDate" < ?`, until),
  );
  return jsonReply(200, { archived: archived.reduce((sum, count) => sum + count, 0) });
}

/** A page in a browser can make its own name lead here, and then ask as if it were this machine; an address it cannot. */
const ADDRESS = /^(localhost|[\d.]+|\[[\da-f:]+\])(:\d+)?$/i;

/** Answers a request below `/_sim`; the remedy for a wrong one is in the answer. */
export async function answerControl(controlled: Controlled, call: Call): Promise<Reply> {
  if (!ADDRESS.test(call.headers.host ?? ""))
    return jsonReply(403, {
      error: "the controls answer at an address alone, such as 127.0.0.1: a name may be a web page's",
    });
  const { sessions, identity } = controlled.parts;
  if (sessions.find(tokenOf(call))?.userId !== identity.userId)
    return jsonReply(401, {
      error: "the controls take a token of the administrator's alone: Authorization: Bearer <access token>",
    });
  const [, , name = "", id = ""] = call.path.split("/");
  const control = CONTROLS[`${call.method} ${name}`];
  if (!control)
    return jsonReply(404, {
      error: `no such control: ${call.method} ${call.path}`,
      controls: Object.keys(CONTROLS).map((key) => key.replace(" ", " /_sim/")),
    });
  try {
    return await control(controlled, call, id);
  } catch (error) {
    if (error instanceof z.ZodError || error instanceof SyntaxError || error instanceof Refusal)
      return jsonReply(400, { error: error.message });
    throw error;
  }
}

function bodyOf(call: Call): unknown {
  return call.body.length === 0 ? {} : JSON.parse(call.body.toString("utf8"));
}
