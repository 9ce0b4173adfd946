import { createHmac, randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { ListDeliveriesData, ListWebhooksData, ReadDeliveryData, TestWebhookData } from "bridge/api";
import type { Api } from "../api.ts";
import { argument, type Context, segment, text, words } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { readSecret } from "../secret.ts";

/** How often new deliveries are asked for: 30 of the 300 requests that a minute has. */
const LOOK_MILLISECONDS = 2000;

/** The largest page that the service gives. */
const PAGE = 200;

/** Spec 3.5: the time that a receiver has. */
const DEADLINE_MILLISECONDS = 5000;

/**
 * Sends every new delivery of a webhook to an address of this machine as well, with the headers of the service. The
 * service never shows a webhook's secret, so its owner gives it, or one is created for this run.
 */
export async function listen(context: Context): Promise<void> {
  const { out, terminal } = context;
  const [api, path] = [context.api(), `/webhooks/${segment(argument(context, 0))}/deliveries`];
  const forward = forwardTo(context);
  const secretFile = text(context, "secretFile");
  const secret = secretFile === null ? newSecret() : await readSecret(terminal, "Signing secret", secretFile);
  const events = words(context, "events");
  const seen = new Set((await newest(api, path, new Set())).map(({ id }) => id));
  if (secretFile === null) out.note(`Signed with ${secret}, which is for this run alone.`);
  out.note(`Waiting for deliveries of ${argument(context, 0)}, for ${forward}. Ctrl-C ends.`);
  for (;;) {
    await pause(LOOK_MILLISECONDS, undefined, { signal: terminal.interrupted });
    for (const { id, event } of (await newest(api, path, seen)).toReversed()) {
      seen.add(id);
      if (events !== null && !events.includes(event)) continue;
      const { data } = await api.get<ReadDeliveryData>(`${path}/${segment(id)}`);
      const answer = await post(forward, data, secret, terminal.interrupted);
      out.line(`${event}  ${id}  ${answer.code ?? answer.reason}`, { delivery_id: id, event, ...answer });
    }
  }
}

/** Deliveries that were not seen yet, newest first; the first poll reads one page, the others all. */
async function newest(api: Api, path: string, seen: ReadonlySet<string>): Promise<readonly ListDeliveriesData[]> {
  const found = new Map<string, ListDeliveriesData>();
  for (let offset = 0; ; offset += PAGE) {
    const { data } = await api.get<readonly ListDeliveriesData[]>(path, { limit: PAGE, offset });
    for (const delivery of data) if (!seen.has(delivery.id)) found.set(delivery.id, delivery);
    if (seen.size === 0 || data.length < PAGE || data.some(({ id }) => seen.has(id))) return [...found.values()];
  }
}

/** A port alone means this machine's. */
function forwardTo(context: Context): string {
  const wanted = text(context, "forward") ?? "";
  const url = /^\d+$/.test(wanted) ? `http://localhost:${wanted}/` : wanted;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new CommandFailure(
    "invalid",
    `--forward takes a port or an address like http://localhost:3000/hook, not "${wanted}"`,
  );
}

const newSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`;

interface Answer {
  readonly code: number | null;
  readonly reason: string | null;
}

/** The request as the service makes it, each delivery's first attempt: signed both ways (contract 6.3, Standard Webhooks). */
async function post(
  url: string,
  delivery: ReadDeliveryData,
  secret: string,
  interrupted: AbortSignal,
): Promise<Answer> {
  const { id, event, event_id, request_body: body } = delivery;
  const timestamp = Math.floor(Date.now() / 1000);
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const sign = (by: string | Buffer, signed: string) => createHmac("sha256", by).update(signed);
  const headers = {
    "content-type": "application/json",
    "user-agent": "Bridge-Webhooks/1",
    "x-bridge-signature": `sha256=${sign(secret, body).digest("hex")}`,
    "x-bridge-event": event,
    "x-bridge-delivery": id,
    "x-bridge-attempt": "1",
    "webhook-id": event_id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": `v1,${sign(key, `${event_id}.${timestamp}.${body}`).digest("base64")}`,
  };
  const signal = AbortSignal.any([interrupted, AbortSignal.timeout(DEADLINE_MILLISECONDS)]);
  try {
    const response = await fetch(url, { method: "POST", body, headers, redirect: "manual", signal });
    await response.body?.cancel();
    return { code: response.status, reason: null };
  } catch (error) {
    if (interrupted.aborted) throw error;
    const { cause, message } = error as Error;
    const reason = cause instanceof Error && "code" in cause ? String(cause.code) : message;
    return { code: null, reason: `no answer: ${reason}` };
  }
}

/** Has the service send an event that never happened to one webhook, or to every one that receives its type. */
export async function trigger(context: Context): Promise<void> {
  const { out } = context;
  const api = context.api();
  const [event, webhook] = [argument(context, 0), context.args[1]];
  const receivers = webhook === undefined ? await receiversOf(api, event) : [webhook];
  const sent: object[] = [];
  for (const id of receivers) {
    const { data } = await api.post<TestWebhookData>(`/webhooks/${segment(id)}/test`, {
      query: { event },
    });
    sent.push({ webhook_id: id, ...data });
    if (!out.json) out.done(`${event} goes to ${id}; see: bridge webhook delivery ${id} ${data.delivery_id}`, data);
  }
  if (out.json) out.done("", sent);
}

async function receiversOf(api: Api, event: string): Promise<readonly string[]> {
  const { data } = await api.get<ListWebhooksData>("/webhooks");
  const found = data.filter(({ active, events }) => active && events.some((one) => one === event)).map(({ id }) => id);
  if (found.length > 0) return found;
  const known = [...new Set(data.flatMap(({ events }) => events))].join(", ") || "none";
  throw new CommandFailure("notFound", `no active webhook receives ${event}; what webhooks receive: ${known}`);
}
