import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import { connectOrg } from "../../lib/adapters/salesforce/connect-org.ts";
import { SalesforceRefusal } from "../../lib/model/change/refusal.ts";
import type { SalesforceConnection } from "../../lib/model/workspace/workspace.ts";
import type { Sessions } from "../../lib/sync/ports/session-ports.ts";
import { ASKS, type Ask } from "./asks.ts";
import type { Recorded } from "./recorded.ts";

/** How our client read an answer. */
export interface Reading {
  readonly read: unknown;
  readonly refusal: SalesforceRefusal["refusal"] | null;
  readonly usage: { readonly used: number; readonly limit: number } | null;
  /** What was sent, as `GET /services/data/…`. */
  readonly sent: readonly string[];
  readonly bodies: readonly string[];
}

type Played = Pick<Recorded, "text" | "ask" | "status" | "headers"> & Parameters<Ask["ask"]>[0]["answer"];

/** An HTTP server that answers with recorded bytes, and our client as the product opens it. */
export interface Player {
  play(answer: Played): Promise<Reading>;
  close(): Promise<void>;
}

const JSON_ANSWER = { "content-type": "application/json;charset=UTF-8" };

/** Starts the server on a free port of this machine. */
export async function openPlayer(): Promise<Player> {
  let playing: Played = { text: "", ask: null };
  const [sent, bodies]: [string[], string[]] = [[], []];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => {
      body += piece.toString();
    });
    request.on("end", () => {
      sent.push(`${request.method} ${request.url}`);
      bodies.push(body);
      response.writeHead(playing.status ?? 200, { ...JSON_ANSWER, ...playing.headers });
      response.end(playing.text.replaceAll("{org}", url));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connection = connectionTo(url);
  const current = async () => connection;
  const sessions: Sessions = { current, renew: current };
  return {
    async play(answer) {
      playing = answer;
      sent.length = 0;
      bodies.length = 0;
      const ask = ASKS[answer.ask ?? ""];
      if (!ask) throw new Error(`no call of ours is "${answer.ask}"`);
      const salesforce = connectOrg(sessions, new AbortController().signal);
      const came = await ask.ask({ salesforce, sessions, connection, answer }).then(
        (read) => ({ read, refusal: null }),
        (error: unknown) => ({ read: undefined, refusal: refusalOf(error) }),
      );
      for (const line of sent) if (!ask.sends.test(line)) throw new Error(`"${answer.ask}" sent ${line}`);
      return { ...came, usage: salesforce.usage(), sent: [...sent], bodies: [...bodies] };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** That the answer was refused as it is stated. */
export function expectRefusal({ refusal }: Reading, refused: Recorded["refused"]): void {
  const { says = "", ...stated } = refused ?? {};
  expect(refusal).toMatchObject(stated);
  expect(refusal?.message).toContain(says);
}

/** The org's count of calls as it is stated; not every answer has one. */
export function expectUsage({ usage }: Reading, stated: Recorded["usage"]): void {
  expect(usage).toEqual(stated === undefined ? null : { used: stated[0], limit: stated[1] });
}

/** Anything else that is thrown is a crash, and fails the test. */
function refusalOf(error: unknown): SalesforceRefusal["refusal"] {
  if (error instanceof SalesforceRefusal) return error.refusal;
  throw error;
}

function connectionTo(url: string): SalesforceConnection {
  const credentials = { kind: "password", clientId: "c", clientSecret: "s", username: "u", password: "p" } as const;
  const to = { loginUrl: url, instanceUrl: url, organizationId: "", userId: "", formerUserIds: [], apiVersion: "66.0" };
  return { ...to, credentials, accessToken: "00Dx!y" };
}
