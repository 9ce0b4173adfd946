import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import type { Dice } from "../../../../support/doubles/dice.ts";

/** What may happen to the org's rings on their way. */
export const RING_FAULTS = ["lost", "refused", "doubled", "late", "for another object", "with a wrong token"] as const;
export type RingFault = (typeof RING_FAULTS)[number];

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Acknowledges a message, so that Salesforce does not send it again. */
const ACKNOWLEDGED: Answer = { status: 200, body: "<Ack>true</Ack>" };
const REFUSED: Answer = { status: 503, body: "" };

/** Longer than two wake-ups of a mapping are apart. */
const LATE_MILLISECONDS = 3_000;

/**
 * The public address of the service, which outlives its hosts: rings come by it, and nothing else. `host` gives where the
 * host is just now; a ring that is for another object names the next of `objects`.
 */
export async function openDoor(host: () => string, objects: readonly string[]) {
  const kinds = ["passed on", ...RING_FAULTS] as const;
  /** Rings by what happened to them. */
  const rings = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<(typeof kinds)[number], number>;
  let forced: RingFault | null = null;
  let dice: Dice | null = null;
  let toDo: RingFault[] = [];
  const next = (): RingFault | null => {
    if (forced || !dice?.isUnder(0.75)) return forced;
    if (toDo.length === 0) toDo = [...RING_FAULTS];
    return toDo.splice(dice.below(toDo.length), 1)[0] ?? null;
  };
  const pass = async (path: string, body = ""): Promise<Answer> => {
    try {
      const answer = await fetch(`${host()}${path}`, { method: "POST", headers: { "content-type": "text/xml" }, body });
      return { status: answer.status, body: await answer.text() };
    } catch {
      return REFUSED;
    }
  };
  const ways: Readonly<Record<RingFault, (path: string, body: string) => Promise<Answer>>> = {
    lost: async () => ACKNOWLEDGED,
    refused: async () => REFUSED,
    doubled: async (path, body) => (await Promise.all([pass(path, body), pass(path, body)]))[0],
    late: async (path, body) => {
      void pause(LATE_MILLISECONDS).then(() => pass(path, body));
      return ACKNOWLEDGED;
    },
    "for another object": (path, body) => pass(misled(path, objects), body),
    "with a wrong token": (path, body) => pass(withWrongToken(path), body),
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { url: path = "/" } = request;
    const body = await text(request);
    const fault = next();
    rings[fault ?? "passed on"] += 1;
    const answered = await (fault ? ways[fault] : pass)(path, body);
    response.writeHead(answered.status, { "content-type": "text/xml" }).end(answered.body);
  };
  // A ring may end with the org that sends it.
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    rings,
    /** From now on something happens to three rings of four, to each what did not happen lately; null: to none. */
    spoil: (by: Dice | null) => {
      dice = by;
    },
    /** From now on this happens to all rings; null: no longer. */
    force: (fault: RingFault | null) => {
      forced = fault;
    },
    /** A ring beside the org's, which nothing happens to and no figure counts. */
    pass: (path: string) => pass(path),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The same ring for the object that follows in the list. */
function misled(path: string, objects: readonly string[]): string {
  const [before = "", object = ""] = path.split("?object=");
  const at = objects.indexOf(decodeURIComponent(object));
  return `${before}?object=${objects[(at + 1) % objects.length]}`;
}

/** Of the right form. */
export const withWrongToken = (path: string): string => path.replace(/ring_\w{6}/, "ring_000000");
