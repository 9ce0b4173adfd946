import type {
  ChangeWebhookData,
  CreateWebhookData,
  ListDeliveriesData,
  ListWebhooksData,
  ReadDeliveryData,
  ReadWebhookData,
  ReplayWebhookData,
  RetryDeliveryData,
  RotateWebhookSecretData,
} from "bridge/api";
import { argument, type Context, isSet, pageIn, segment, text, wholeNumber, words } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { confirmUnlessYes } from "../secret.ts";
import { shortTime } from "../words.ts";

const stateOf = ({ active, failing_since, given_up }: ListWebhooksData[number]): string => {
  if (!active) return "paused";
  return failing_since === null ? "active" : given_up ? "failing for good" : "failing";
};

const path = (context: Context): string => `/webhooks/${segment(argument(context, 0))}`;

/** All webhooks. */
export async function listWebhooks({ api, out }: Context): Promise<void> {
  const { data } = await api().get<ListWebhooksData>("/webhooks");
  out.list(
    data,
    [
      { name: "ID", of: ({ id }) => id, whole: true },
      { name: "URL", of: ({ url }) => url },
      {
        name: "STATE",
        of: stateOf,
        paint: (cell, { active, failing_since }) =>
          out.paint(active ? (failing_since === null ? "green" : "red") : "dim", cell),
      },
      { name: "EVENTS", of: ({ events }) => (isDefault(events) ? "all" : events.join(" ")) },
    ],
    "No webhooks yet. Make one with: bridge webhook create https://…",
  );
}

/** One webhook; never its secret. */
export async function showWebhook(context: Context): Promise<void> {
  const { data } = await context.api().get<ReadWebhookData>(path(context));
  context.out.record({ ...data });
}

/** The events of a webhook without `--events`: all (contract 6.1). */
const ALL_EVENTS = [
  "sync.broken",
  "sync.recovered",
  "sync.failure_spike",
  "mapping.activated",
  "mapping.deactivated",
  "record.failed",
];

const isDefault = (events: readonly string[]): boolean =>
  events.length === ALL_EVENTS.length && ALL_EVENTS.every((event) => events.includes(event));

/** Registers a URL and shows the secret once: alone on standard output, so that it can be piped. */
export async function createWebhook(context: Context): Promise<void> {
  const body = { url: argument(context, 0), events: words(context, "events") ?? ALL_EVENTS };
  const { data } = await context.api().post<CreateWebhookData>("/webhooks", { body });
  if (!context.out.json) context.out.note(`Webhook ${data.id}. Its signing secret is shown this once:`);
  context.out.done(data.secret, data);
}

/** Changes what was given. */
export async function updateWebhook(context: Context): Promise<void> {
  const events = words(context, "events");
  const url = text(context, "target");
  const [pause, resume] = [isSet(context, "pause"), isSet(context, "resume")];
  if (pause && resume) throw new CommandFailure("usage", "--pause and --resume contradict each other");
  const body = {
    ...(url === null ? {} : { url }),
    ...(events === null ? {} : { events }),
    ...(pause || resume ? { active: resume } : {}),
  };
  if (Object.keys(body).length === 0) throw new CommandFailure("usage", "nothing to change was given");
  const { data } = await context.api().patch<ChangeWebhookData>(path(context), { body });
  const what = data.active
    ? `receives ${data.events.join(", ")} at ${data.url}`
    : "is paused: its deliveries wait for a replay";
  context.out.done(`Webhook ${data.id} ${what}.`, data);
}

/** Ends a webhook. */
export async function deleteWebhook(context: Context): Promise<void> {
  await confirmUnlessYes(context, `End webhook ${argument(context, 0)}?`);
  const { data } = await context.api().delete(path(context));
  context.out.done("The webhook is ended.", data);
}

/** A new secret, shown once. */
export async function rotateSecret(context: Context): Promise<void> {
  const hours = wholeNumber(context, "overlap");
  if (hours !== null && hours > 168) throw new CommandFailure("invalid", "--overlap must be 0 to 168 hours");
  const query = { overlap_seconds: hours === null ? null : hours * 3600 };
  const old = hours === 0 ? "the old one has ended" : `the old one signs for ${hours ?? 24} hours, too`;
  const { data } = await context.api().post<RotateWebhookSecretData>(`${path(context)}/rotate-secret`, { query });
  if (!context.out.json) context.out.note(`The new signing secret is shown this once; ${old}:`);
  context.out.done(data.secret, data);
}

/** Sends again what was missed since a time, page by page. */
export async function replayWebhook(context: Context): Promise<void> {
  const api = context.api();
  const since = text(context, "since");
  let queued = 0;
  let before_id: string | null = null;
  do {
    const { data }: { readonly data: ReplayWebhookData } = await api.post(`${path(context)}/replay`, {
      query: { since, before_id },
    });
    queued += data.queued;
    before_id = data.next;
  } while (before_id !== null);
  const see = `See the result with: bridge webhook deliveries ${argument(context, 0)}`;
  const says = queued === 0 ? "Nothing was missed since then." : `Deliveries that are sent again: ${queued}. ${see}`;
  context.out.done(says, { queued });
}

/** A test event. */
export async function testWebhook(context: Context): Promise<void> {
  const { data } = await context.api().post(`${path(context)}/test`, { query: { event: text(context, "event") } });
  context.out.done(`Sent. See the result with: bridge webhook deliveries ${argument(context, 0)}`, data);
}

/** The deliveries of a webhook and their results. */
export async function listDeliveries(context: Context): Promise<void> {
  const { out } = context;
  const { data } = await context
    .api()
    .get<readonly ListDeliveriesData[]>(`${path(context)}/deliveries`, pageIn(context));
  const colour = (status: string) => (status === "successful" ? "green" : status === "failed" ? "red" : "yellow");
  out.list(
    data,
    [
      { name: "ID", of: ({ id }) => id, whole: true },
      { name: "EVENT", of: ({ event }) => event },
      { name: "STATUS", of: ({ status }) => status, paint: (cell, { status }) => out.paint(colour(status), cell) },
      { name: "CODE", of: ({ response_code }) => response_code, right: true },
      { name: "AT", of: ({ delivered_at }) => delivered_at, short: shortTime },
      { name: "NEXT RETRY", of: ({ next_retry_at }) => next_retry_at, short: shortTime, spare: true },
    ],
    "There are no deliveries to this webhook yet.",
  );
}

/** One delivery with all of its attempts. */
export async function showDelivery(context: Context): Promise<void> {
  const place = `${path(context)}/deliveries/${segment(argument(context, 1))}`;
  const { data } = await context.api().get<ReadDeliveryData>(place);
  const { out } = context;
  if (out.json) return out.record({ ...data });
  const { attempts, ...delivery } = data;
  out.record(delivery);
  out.list(
    attempts,
    [
      { name: "#", of: ({ number }) => number, right: true },
      { name: "KIND", of: ({ kind }) => kind, spare: true },
      { name: "AT", of: ({ started_at }) => started_at, short: shortTime },
      { name: "MS", of: ({ duration_ms }) => duration_ms, right: true },
      { name: "CODE", of: ({ response_code }) => response_code, right: true },
      { name: "ANSWER", of: ({ reason, response_body }) => reason ?? response_body },
    ],
    "Not attempted yet.",
  );
}

/** One more attempt. */
export async function retryDelivery(context: Context): Promise<void> {
  const { data } = await context
    .api()
    .post<RetryDeliveryData>(`${path(context)}/deliveries/${segment(argument(context, 1))}/retry`);
  context.out.done("A new attempt is queued.", data);
}
