import type { JsonSchema } from "../../http/openapi/open-api.ts";
import { begin, newDelivery } from "../../model/delivery/delivery.ts";
import { EVENT_TYPES, type EventType, envelopeOf } from "../../model/delivery/event.ts";
import { sampleDetails } from "../../model/delivery/sample-details.ts";
import { signedRequest } from "../../webhooks/sign.ts";

/** When each event is sent (contract 6.1). */
const WHEN: Readonly<Record<EventType, string>> = {
  "sync.broken": "A mapping stopped because of an error that stays.",
  "sync.recovered": "A broken mapping works again.",
  "sync.failure_spike": "Ten or more rows failed in one cycle of a mapping.",
  "mapping.activated": "A mapping became active.",
  "mapping.deactivated": "A mapping was paused or deactivated.",
  "record.failed": "Salesforce refused one row.",
  "deletes.held":
    "More was deleted in an hour than is let through: at the beginning, every hour, and at the end. Sent to webhooks that name it.",
};

/** Signs the samples, so that a receiver can be tried with them. */
const SECRET = `whsec_${Buffer.from("a sample, to try a receiver with").toString("base64")}`;
const OLDER = `whsec_${Buffer.from("the sample that it replaced, old").toString("base64")}`;
const AT = new Date("2026-01-31T08:15:02.000Z");

/** The headers of a delivery, and what each says. */
const HEADERS: Readonly<Record<string, string>> = {
  "X-Bridge-Signature":
    "`sha256=` and HMAC-SHA256 of the raw body in lowercase hexadecimal; its key is the whole text of the secret, `whsec_` included.",
  "X-Bridge-Signature-Previous":
    "The same by each secret that a rotation replaced and that still signs, newest first, separated by `, `; absent without one.",
  "webhook-id": "The event's id, the same on every attempt: an id that was seen before is a duplicate.",
  "webhook-timestamp": "When the attempt began, in epoch seconds: refuse what is older than five minutes.",
  "webhook-signature":
    "Standard Webhooks: `v1,` and HMAC-SHA256 in base64 of `<webhook-id>.<webhook-timestamp>.<body>`, once for each secret that signs, separated by spaces; its key is what the secret encodes in base64 behind `whsec_`.",
  "X-Bridge-Event": "Type of the event.",
  "X-Bridge-Delivery": "The delivery, as the history names it.",
  "X-Bridge-Attempt": "Counts the attempts of the delivery, from 1.",
};

const RULES = [
  "Verify one of the signatures first, in constant time.",
  "Answer any 2xx within 5 seconds. Everything else, also 3xx, 410 and 429, is a failure,",
  "and is tried again after 30 seconds, 5 minutes, 30 minutes and 2 hours; `Retry-After` changes nothing.",
  "Deliveries come at least once and in no order.",
  `The sample is signed with \`${SECRET}\`, which replaced \`${OLDER}\`; its body is the example without white space.`,
].join(" ");

/** What a receiver is sent, an entry for each event; `keep` puts the schemas of the bodies into the document. */
export function describeWebhooks(keep: (name: string, schema: JsonSchema) => JsonSchema) {
  return Object.fromEntries(EVENT_TYPES.map((event) => [event, { post: describe(event, keep) }]));
}

function describe(event: EventType, keep: (name: string, schema: JsonSchema) => JsonSchema) {
  const { body, headers } = sampleOf(event);
  const example = JSON.parse(body) as Readonly<Record<string, unknown>>;
  const properties = { ...propertiesOf(example), event: { type: "string", const: event } };
  const schema = keep(nameOf(event), { type: "object", properties, required: Object.keys(properties) });
  const refused = { description: "Not accepted: it is retried by the schedule." };
  return {
    operationId: `on-${event.replaceAll(/[._]/g, "-")}`,
    summary: WHEN[event],
    description: RULES,
    tags: ["webhooks"],
    security: [],
    parameters: Object.entries(HEADERS).map(([name, description]) => ({
      name,
      in: "header" as const,
      required: !name.endsWith("Previous"),
      description,
      schema: { type: "string" },
      example: headers[name.toLowerCase()],
    })),
    requestBody: { required: true, content: { "application/json": { schema, example } } },
    responses: { "2XX": { description: "Accepted." }, "4XX": refused, "5XX": refused },
  };
}

/** The request of a delivery with this event's sample. */
function sampleOf(event: EventType) {
  const made = { workspaceId: "ws_4xd0vJl2", event, occurredAt: AT };
  const body = envelopeOf({ ...made, id: "evt_7f2c1d", detail: { ...sampleDetails("ada@example.com", AT)[event] } });
  const ids = { id: "dlv_2K9xPq", webhookId: "whk_1", eventId: "evt_7f2c1d" };
  const delivery = begin(newDelivery({ ...made, ...ids, body, createdAt: AT }), "automatic", AT);
  if (delivery.latest === null) throw new Error("no attempt is under way");
  const secrets = { current: SECRET, previous: [OLDER] };
  return signedRequest("https://example.com/", delivery, delivery.latest, secrets);
}

/** The OpenAPI name of an event's body: `SyncBrokenEvent`. */
const nameOf = (event: EventType): string =>
  `${event.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;

/** Every field of a sample is always there. */
function propertiesOf(sample: object): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(Object.entries(sample).map(([name, value]) => [name, schemaOfValue(value)]));
}

function schemaOfValue(value: unknown): JsonSchema {
  if (value === null) return { type: ["string", "null"] };
  if (typeof value === "number") return { type: "integer" };
  if (typeof value !== "object") {
    return { type: "string", ...(/^\d{4}-\d\d-\d\dT/.test(String(value)) && { format: "date-time" }) };
  }
  const properties = propertiesOf(value);
  return {
    type: "object",
    properties: { ...properties, test: { type: "boolean" } },
    required: Object.keys(properties),
  };
}
