import { STATUS_OF } from "../../model/failure.ts";
import type { Route } from "../routes.ts";
import type { JsonSchema } from "./json-schema.ts";

/** The envelope of every refusal. */
export const Refusal: JsonSchema = {
  type: "object",
  properties: {
    success: { const: false },
    error: {
      type: "object",
      properties: {
        code: { enum: Object.keys(STATUS_OF) },
        message: { type: "string" },
        details: {
          type: "array",
          items: {
            type: "object",
            properties: { path: { type: "string" }, message: { type: "string" } },
            required: ["path", "message"],
            additionalProperties: false,
          },
        },
      },
      required: ["code", "message"],
      additionalProperties: false,
    },
  },
  required: ["success", "error"],
  additionalProperties: false,
};

/** What each status of a refusal says, in a name for the document and a sentence. */
const REFUSALS = {
  "400": ["Invalid", "Not understood: `error.details` names each bad part and what would be right."],
  "401": ["Unauthorized", "No token, or one that is unknown, revoked or past its time."],
  "403": ["Forbidden", "The token is of another workspace, or lacks the scope."],
  "404": ["NotFound", "No such workspace, or nothing with this id in it."],
  "409": ["Conflict", "Something else has the name, changes it right now, or is not connected yet."],
  "412": ["Changed", "Somebody changed it since the version that `If-Match` names."],
  "413": ["TooLarge", "The body is larger than 1 MiB, or nested deeper than 32."],
  "415": ["NotJson", "The body is not `application/json`."],
  "422": ["OtherRequest", "This `Idempotency-Key` was given to another request."],
  "429": ["TooMany", "More requests than the limit in this minute; `Retry-After` says when to come back."],
  "5XX": ["Fault", "Our fault, or that of something we need; ask again, and tell the operator the `X-Request-Id`."],
} as const;

type RefusalStatus = keyof typeof REFUSALS;

/** The refusals as components of the document. */
export const responses = Object.fromEntries(
  Object.values(REFUSALS).map(([name, description]) => [
    name,
    { description, content: { "application/json": { schema: { $ref: "#/components/schemas/Refusal" } } } },
  ]),
);

/** Statuses that refusals of an endpoint may have, each with what it says. */
export function refusalsOf(route: Route, hasInput: boolean) {
  const statuses: readonly RefusalStatus[] = [
    ...(hasInput || isNamable(route) ? (["400"] as const) : []),
    ...(route.scope === null ? [] : (["401", "403", "404", "409"] as const)),
    ...(isVersioned(route) ? (["412"] as const) : []),
    ...(route.body ? (["413", "415"] as const) : []),
    ...(isNamable(route) ? (["422"] as const) : []),
    ...(route.scope === null ? [] : (["429"] as const)),
    "5XX",
  ];
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${REFUSALS[status][0]}` }]),
  );
}

/** Whether an Idempotency-Key is heeded. */
export const isNamable = ({ method, scope }: Route): boolean => method === "POST" && scope !== null;

/** Whether If-Match is heeded. */
export const isVersioned = ({ method, path }: Route): boolean =>
  path.endsWith("/config/import") ||
  (method !== "GET" && /\/mappings\/\{mapping_id\}(\/(activate|deactivate|restore))?$/.test(path));
