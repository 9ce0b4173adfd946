import { ERRORS } from "../../http/openapi/errors.ts";
import type { JsonSchema } from "../../http/openapi/open-api.ts";
import { CONTRACT, ROUTES, type Route, type RouteName } from "../../http/routes.ts";
import { type FailureCode, STATUS_OF } from "../../model/failure.ts";

/** Statuses whose refusals may say when to come back. */
const WAITING = ["409", "429", "5XX"];

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
  "401": ["Unauthorized", "No token, or one that is unknown, revoked or expired."],
  "403": ["Forbidden", "The token is of another workspace, or lacks the scope."],
  "404": ["NotFound", "No such workspace, or nothing with this id in it."],
  "405": ["OtherMethod", "The path is there, but not for this method; `Allow` names those that are."],
  "409": ["Conflict", "Something else has the name, changes it right now, or is not connected yet."],
  "410": ["Expired", "The cursor reaches further back than the log: begin again without it."],
  "412": ["Changed", "It was changed since the version that `If-Match` names."],
  "413": ["TooLarge", "The body is larger than 1 MiB, or nested deeper than 32."],
  "415": ["NotJson", "The body is not `application/json`."],
  "422": ["OtherRequest", "This `Idempotency-Key` was given to another request."],
  "429": ["TooMany", "More requests than the limit in this minute; `Retry-After` says when to come back."],
  "5XX": ["Fault", "Our fault, or that of something we need; ask again, and give the operator the `X-Request-Id`."],
} as const;

type RefusalStatus = keyof typeof REFUSALS;

const header = (description: string, example: string): JsonSchema => ({
  description,
  schema: { type: "string" },
  example,
});

/** The headers of answers as components of the document. */
export const headers: Readonly<Record<string, JsonSchema>> = {
  "X-Request-Id": header("Names the request in the operator's log.", "req_4FzQ1VbT0uWm9sLkX7aPde"),
  RateLimit: header("What is left for the address (`r`), and for how many seconds (`t`).", '"default";r=299;t=42'),
  "RateLimit-Policy": header(
    "Requests (`q`) that an address may make in so many seconds (`w`).",
    '"default";q=300;w=60',
  ),
  "Retry-After": header("Seconds after which it is worth asking again; also with some answers of 409 and 503.", "42"),
  ETag: header("The version, for `If-Match`.", '"7"'),
  Warning: header(
    "Parameters that the endpoint does not have and has ignored.",
    '299 - "ofset was ignored: it is no parameter of this endpoint; the nearest is offset"',
  ),
  "Idempotent-Replayed": header("`true`: the answer of an earlier request with the same `Idempotency-Key`.", "true"),
  "Bridge-Cycle": header(
    "Mark of the cycle that was asked for, or that runs; left out when there is none.",
    "cyc_4FzQ1VbT0uWm9sLkX7aPde",
  ),
  Allow: header("Methods that the path has.", "GET, POST"),
};

/** Headers by reference to the document's own. */
export const named = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const COUNTED = ["X-Request-Id", "RateLimit", "RateLimit-Policy"];

/** What each answer of an endpoint carries. */
export const headersOf = (name: RouteName, route: Route) =>
  named([
    ...(route.scope === null ? ["X-Request-Id"] : COUNTED),
    ...(CONTRACT.has(name) && route.scope !== null ? ["Warning"] : []),
    ...(TAGGED.includes(name) ? ["ETag"] : []),
    ...(name === "poll-now" ? ["Bridge-Cycle"] : []),
    ...(isNamable(route) ? ["Idempotent-Replayed"] : []),
  ]);

/** Endpoints that give one mapping, with its version. */
const TAGGED: readonly RouteName[] = [
  "activate-mapping",
  "create-mapping",
  "export-config",
  "read-mapping",
  "update-mapping",
];

/** The refusals as components of the document. */
export const responses = Object.fromEntries(
  Object.entries(REFUSALS).map(([status, [name, when]]) => [
    name,
    {
      description: `${when}\n\n${codesOf(status)}`,
      headers: named([
        ...COUNTED,
        ...(WAITING.includes(status) ? ["Retry-After"] : []),
        ...(status === "405" ? ["Allow"] : []),
      ]),
      content: { "application/json": { schema: { $ref: "#/components/schemas/Refusal" } } },
    },
  ]),
);

/** The codes of one status, in words. */
function codesOf(status: string): string {
  return (Object.keys(STATUS_OF) as FailureCode[])
    .filter((code) => (status === "5XX" ? STATUS_OF[code] >= 500 : String(STATUS_OF[code]) === status))
    .map((code) => `\`${code}\`: ${ERRORS[code].join(" ")}`)
    .join("\n\n");
}

/** Statuses that refusals of an endpoint may have, each with what it says. */
export function refusalsOf(name: RouteName) {
  const route: Route = ROUTES[name];
  const statuses: readonly RefusalStatus[] = [
    ...(route.scope === null ? [] : (["400", "401", "403", "404"] as const)),
    ...(name === "ring" ? (["404", "429"] as const) : []),
    "405",
    ...(route.scope === null ? [] : (["409"] as const)),
    ...(name === "list-changes" ? (["410"] as const) : []),
    ...(isVersioned(route) ? (["412"] as const) : []),
    ...(route.body ? (["413", "415"] as const) : []),
    ...(isNamable(route) ? (["422"] as const) : []),
    ...(route.scope === null ? [] : (["429"] as const)),
    "5XX",
  ];
  return referredTo(statuses);
}

/** Refusals by reference to the document's own. */
export const referredTo = (statuses: readonly RefusalStatus[]) =>
  Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${REFUSALS[status][0]}` }]));

/** Whether an Idempotency-Key is heeded. */
export const isNamable = ({ method, scope }: Route): boolean => method === "POST" && scope !== null;

/** Whether If-Match is heeded. */
export const isVersioned = ({ method, path }: Route): boolean =>
  path.endsWith("/config/import") ||
  (method !== "GET" && /\/mappings\/\{mapping_id\}(\/(activate|deactivate|restore))?$/.test(path));
