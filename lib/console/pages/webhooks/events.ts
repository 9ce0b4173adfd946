import type { CreateWebhookBody, ListMappingStatesData } from "bridge/api";

type BrokenReason = NonNullable<ListMappingStatesData[number]["failure"]>;

export type EventType = CreateWebhookBody["events"][number];

const MAPPING = { mapping_id: "map_7dYw1cQ", sf_object: "Contact" };
const SWITCHED = { ...MAPPING, pg_table: "contact", actor: "ada@example.com" };
const SINCE = "2026-11-20T03:02:10.000Z";

/** What can be announced, when, and what it looks like: the `data` of one. */
export const EVENTS: readonly { readonly type: EventType; readonly says: string; readonly sample: object }[] = [
  {
    type: "sync.broken",
    says: "A mapping has stopped because of an error that stays.",
    sample: {
      ...MAPPING,
      reason: "salesforce_authorization" satisfies BrokenReason,
      message: "invalid_grant: expired access/refresh token; connect the workspace to Salesforce again",
      what: "Salesforce refuses Bridge's sign-in",
      remedy: "connect the workspace to Salesforce again",
      commands: ["bridge connect salesforce"],
      since: SINCE,
      failed_cycles: 3,
    },
  },
  {
    type: "sync.recovered",
    says: "It works again.",
    sample: { ...MAPPING, broken_since: SINCE, duration_seconds: 840 },
  },
  {
    type: "sync.failure_spike",
    says: "Ten or more rows failed in one cycle.",
    sample: { failed_count: 42, ...MAPPING },
  },
  {
    type: "record.failed",
    says: "Salesforce refused one row.",
    sample: {
      trigger_log_id: 90210,
      ...MAPPING,
      table_name: "contact",
      record_id: 4711,
      sfid: null,
      action: "INSERT",
      error: "INVALID_EMAIL_ADDRESS: Email: invalid email address: not-an-address [Email]",
    },
  },
  {
    type: "deletes.held",
    says: "More was deleted in an hour than the limit allows; sent again every hour, and when none is held any more.",
    sample: {
      ...MAPPING,
      pg_table: "contact",
      phase: "began",
      deletes: 939,
      since: SINCE,
      message:
        "939 deletes of Contact are held: more in one hour than delete_limit auto allows, or of records that Salesforce does not return any more; list them with: bridge mapping held-deletes Contact, then confirm-deletes or reject-deletes",
    },
  },
  { type: "mapping.activated", says: "A mapping was activated.", sample: SWITCHED },
  { type: "mapping.deactivated", says: "A mapping was deactivated.", sample: SWITCHED },
];

/** The whole body of a delivery of such an event. */
export function sampleOf(type: EventType): string {
  const { sample } = EVENTS.find((event) => event.type === type) ?? { sample: {} };
  const envelope = {
    id: "evt_5rXhT2kB",
    event: type,
    workspace_id: "ws_4xd0vJl2",
    occurred_at: "2026-11-20T03:02:11.482Z",
    data: sample,
  };
  return JSON.stringify(envelope, null, 2);
}
