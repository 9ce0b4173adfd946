import { connectOrg } from "../../../lib/adapters/salesforce/connect-org.ts";
import { guardedFetch } from "../../../lib/adapters/salesforce/guarded-fetch.ts";
import { urlGuard } from "../../../lib/adapters/webhook-client/guard.ts";
import { webhookSender } from "../../../lib/adapters/webhook-client/post.ts";
import { resolveByDns } from "../../../lib/adapters/webhook-client/resolve.ts";
import { type AddressPolicy, PRODUCTION } from "../../../lib/model/address.ts";
import type { Salesforce } from "../../../lib/sync/ports/cycle-ports.ts";
import type { Answer } from "../../../lib/webhooks/ports.ts";
import { type ContractWorld, startContractWorld } from "../../conformance/world.ts";
import { type DnsServer, startDnsServer } from "../../support/doubles/dns-server.ts";
import { orgSessions } from "../../support/doubles/org-calls.ts";
import type { HttpAnswer, HttpRequest } from "../../support/worlds/running-bridge.ts";
import { ZONE } from "./address-forms.ts";

/** Every way in and out that is attacked. A planted hole puts another door in the place of one. */
export interface Doors {
  ask(method: string, path: string, request: HttpRequest): Promise<HttpAnswer>;
  /** Why a webhook's URL can't be saved under production's rules; null: it can. */
  save(url: string): Promise<string | null>;
  post(url: string, policy: AddressPolicy): Promise<Answer>;
  /** A request of the client of orgs. */
  askOrg(url: string): Promise<unknown>;
  /** By what databases are asked: Bridge's sessions or the driver alone. */
  readonly database: "session" | "driver";
  /** What a terminal gets of what the command line has written. */
  show(text: string): string;
  /** The engine's client of an org. */
  readOrg(url: string): Salesforce;
}

/** How much is tried. */
export interface Size {
  readonly seed: number;
  readonly requests: number;
  readonly rowMegabytes: number;
  /** Of endpoints and names every how many-th is tried; each function takes a while to be loaded. */
  readonly every: number;
  /** The endpoints that random requests go to. */
  readonly paths: RegExp;
  /** Receivers that hold an attempt for its five seconds take part. */
  readonly slow: boolean;
}

export const WHOLE: Omit<Size, "seed"> = { requests: 20_000, rowMegabytes: 100, every: 1, paths: /^/, slow: true };
export const BRIEF: Omit<Size, "seed"> = {
  requests: 60,
  rowMegabytes: 1,
  every: 20,
  paths: /\/(tokens|errors)$/,
  slow: false,
};

export interface Attacked extends ContractWorld {
  readonly doors: Doors;
  readonly size: Size;
}

/** What a part has tried, and what it has found. */
export interface Outcome {
  readonly tried: number;
  readonly findings: readonly string[];
}

export type Part = (world: Attacked) => Promise<Outcome>;

/** A running Bridge with both sides connected, and a DNS server whose names lead where they must not. */
export async function startAttacked(size: Size): Promise<Attacked> {
  const [contract, dns] = await Promise.all([startContractWorld(), startDnsServer(ZONE)]);
  return {
    ...contract,
    size,
    doors: doorsOf(contract, dns),
    close: async () => {
      await dns.close();
      await contract.close();
    },
  };
}

function doorsOf({ bridge }: ContractWorld, dns: DnsServer): Doors {
  const resolve = resolveByDns([dns.address]);
  return {
    ask: bridge.request,
    save: urlGuard(PRODUCTION, resolve),
    post: (url, policy) => webhookSender({ policy, resolve }).post({ url, headers: {}, body: "{}" }),
    readOrg: (url) => connectOrg(orgSessions(url, "token"), new AbortController().signal),
    askOrg: async (url) => (await guardedFetch(url, {})).text(),
    show: (text) => text,
    database: "session",
  };
}

/** One cycle of the mapped Contact, to its end. */
export async function cycle({ ask, contactId }: Attacked): Promise<void> {
  const { headers } = await ask("POST", `/mappings/${contactId}/poll-now`);
  await ask("GET", `/mappings/${contactId}/cycles/${headers.get("bridge-cycle")}?wait=20`);
}

/** Longer than every deadline. */
export const HANG_MILLISECONDS = 60_000;

/** The answer, or what is wrong: it takes longer than this, or does not come at all. */
export async function inTime<Value>(work: Promise<Value>, milliseconds: number): Promise<Value | string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no end within ${milliseconds} ms`), milliseconds);
  });
  try {
    return await Promise.race([
      work.catch((error: Error) => `failed: ${String(error)} (${String(error.cause)})`),
      late,
    ]);
  } finally {
    clearTimeout(timer);
  }
}
