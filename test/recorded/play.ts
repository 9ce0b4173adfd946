import { once } from "node:events";
import { createServer } from "node:http";
import { connectOrg } from "../../lib/adapters/salesforce/connect-org.ts";
import { SalesforceRefusal } from "../../lib/model/change/refusal.ts";
import { listen } from "../adapters/listen.ts";
import { orgConnection } from "../support/doubles/org-calls.ts";
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

type Played = Pick<Recorded, "text" | "ask" | "status" | "headers"> & Parameters<Ask[1]>[0]["answer"];

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
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  const connection = orgConnection(url, "00Dx!y");
  const current = async () => connection;
  const sessions = { current, renew: current };
  return {
    async play(answer) {
      playing = answer;
      sent.length = 0;
      bodies.length = 0;
      const [sends, ask] = ASKS[answer.ask ?? ""] ?? [];
      if (!sends || !ask) throw new Error(`no call of ours is "${answer.ask}"`);
      const salesforce = connectOrg(sessions, new AbortController().signal);
      const came = await ask({ salesforce, sessions, connection, answer }).then(
        (read) => ({ read, refusal: null }),
        (error: unknown) => ({ read: undefined, refusal: refusalOf(error) }),
      );
      for (const line of sent) if (!sends.test(line)) throw new Error(`"${answer.ask}" sent ${line}`);
      return { ...came, usage: salesforce.usage(), sent: [...sent], bodies: [...bodies] };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Anything else that is thrown is a crash, and fails the test. */
function refusalOf(error: unknown): SalesforceRefusal["refusal"] {
  if (error instanceof SalesforceRefusal) return error.refusal;
  throw error;
}
