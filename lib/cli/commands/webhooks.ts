import { argument, type Context, isSet, segment, text, wholeNumber, words } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { confirm } from "../secret.ts";

interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly active?: boolean;
}

const path = (context: Context): string => `/webhooks/${segment(argument(context, 0))}`;

/** All webhooks. */
export async function listWebhooks({ api, out }: Context): Promise<void> {
  const { data } = await api().get<readonly Webhook[]>("/webhooks");
  out.list(
    data,
    [
      { name: "ID", of: ({ id }) => id },
      { name: "URL", of: ({ url }) => url },
      { name: "EVENTS", of: ({ events }) => events.join(" ") },
    ],
    "No webhooks yet. Make one with: bridge webhook create https://…",
  );
}

/** What a webhook is told of unless `--events` says otherwise: everything (spec 6.1). */
const ALL_EVENTS = [
  "sync.broken",
  "sync.recovered",
  "sync.failure_spike",
  "mapping.activated",
  "mapping.deactivated",
  "record.failed",
];

/** Registers a URL and shows the secret once: alone on standard output, so that it can be piped. */
export async function createWebhook(context: Context): Promise<void> {
  const body = { url: argument(context, 0), events: words(context, "events") ?? ALL_EVENTS };
  const { data } = await context.api().post<Webhook & { readonly secret: string }>("/webhooks", { body });
  if (!context.out.json) context.out.note(`Webhook ${data.id}. Its signing secret is shown this once:`);
  context.out.done(data.secret, data);
}

/** Changes what was given. */
export async function updateWebhook(context: Context): Promise<void> {
  const events = words(context, "events");
  const url = text(context, "target");
  const body = { ...(url === null ? {} : { url }), ...(events === null ? {} : { events }) };
  if (Object.keys(body).length === 0) throw new CommandFailure("usage", "nothing to change was given");
  const { data } = await context.api().patch<Webhook>(path(context), { body });
  context.out.done(`Webhook ${data.id} is told of ${data.events.join(", ")} at ${data.url}.`, data);
}

/** Ends a webhook. */
export async function deleteWebhook(context: Context): Promise<void> {
  if (!isSet(context, "yes") && !(await confirm(context.terminal, `End webhook ${argument(context, 0)}?`))) {
    throw new CommandFailure("usage", "not confirmed: say --yes to do it without a question");
  }
  const { data } = await context.api().delete(path(context));
  context.out.done("The webhook is ended.", data);
}

/** A new secret, shown once. */
export async function rotateSecret(context: Context): Promise<void> {
  const { data } = await context.api().post<{ readonly secret: string }>(`${path(context)}/rotate-secret`);
  if (!context.out.json)
    context.out.note("The new signing secret is shown this once; the old one signs for 24 hours, too:");
  context.out.done(data.secret, data);
}

/** A test event. */
export async function testWebhook(context: Context): Promise<void> {
  const { data } = await context.api().post(`${path(context)}/test`);
  context.out.done(`Sent. See what came of it with: bridge webhook deliveries ${argument(context, 0)}`, data);
}

interface Delivery {
  readonly id: string;
  readonly event: string;
  readonly status: string;
  readonly response_code: number | null;
  readonly delivered_at: string | null;
  readonly next_retry_at: string | null;
}

/** What was owed to a webhook and what came of it. */
export async function listDeliveries(context: Context): Promise<void> {
  const { out } = context;
  const page = { limit: wholeNumber(context, "limit"), offset: wholeNumber(context, "offset") };
  const { data } = await context.api().get<readonly Delivery[]>(`${path(context)}/deliveries`, page);
  const colour = (status: string) => (status === "successful" ? "green" : status === "failed" ? "red" : "yellow");
  out.list(
    data,
    [
      { name: "ID", of: ({ id }) => id },
      { name: "EVENT", of: ({ event }) => event },
      { name: "STATUS", of: ({ status }) => status, paint: (cell, { status }) => out.paint(colour(status), cell) },
      { name: "CODE", of: ({ response_code }) => response_code, right: true },
      { name: "AT", of: ({ delivered_at }) => delivered_at },
      { name: "NEXT RETRY", of: ({ next_retry_at }) => next_retry_at },
    ],
    "Nothing was owed to this webhook yet.",
  );
}

/** One more attempt. */
export async function retryDelivery(context: Context): Promise<void> {
  const { data } = await context
    .api()
    .post<{ readonly queued: boolean }>(`${path(context)}/deliveries/${segment(argument(context, 1))}/retry`);
  context.out.done("A new attempt is queued.", data);
}
