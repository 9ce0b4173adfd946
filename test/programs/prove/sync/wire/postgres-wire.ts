import type { Socket } from "node:net";
import type { Caller, Gate } from "./passage.ts";
import { effectsIn, pointOf } from "./sql-effects.ts";

/** One message of PostgreSQL's protocol: its type, and all its bytes. */
interface Frame {
  readonly type: string;
  readonly bytes: Buffer;
}

/**
 * Hands a connection on, round by round: what a client sends up to Query or Sync, and the answer up to ReadyForQuery.
 * Durable are a COMMIT of something, and a statement outside of a transaction that writes.
 */
export function pipePostgres(client: Socket, server: Socket, caller: Caller, gate: Gate): void {
  const cut = () => {
    client.destroy();
    server.destroy();
  };
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on("error", cut);
    one.on("close", () => other.destroy());
    one.on("end", () => other.end());
  }
  const fromClient = frames(true);
  const fromServer = frames(false);
  let status = "I";
  let open: string[] = [];
  let round: Buffer[] = [];
  let texts: string[] = [];
  let point: string | null = null;
  let answer: Buffer[] = [];
  let hasFailed = false;
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = (work: () => Promise<void>) => {
    turn = turn.then(work).catch(cut);
  };

  const send = async () => {
    const [bytes, text] = [Buffer.concat(round), texts.join(";")];
    [round, texts, hasFailed] = [[], [], false];
    const effects = effectsIn(text);
    if (/\bCOMMIT\b/.test(text) && !/^\s*BEGIN/.test(text)) {
      point = open.length > 0 ? pointOf(open, true) : null;
      open = [];
    } else if (/^\s*(BEGIN|ROLLBACK)\b/.test(text)) open = effects;
    else if (status === "I" && effects.length > 0) point = pointOf(effects, false);
    else open.push(...effects);
    if (point !== null && (await gate({ ...caller, point: nameOf(caller, point), when: "before" })) === "cut")
      return cut();
    server.write(bytes);
  };

  client.on("data", (chunk: Buffer) => {
    for (const frame of fromClient(chunk)) {
      if (frame.type === "Q") texts.push(frame.bytes.toString("utf8", 5, frame.bytes.length - 1));
      if (frame.type === "P") texts.push(textOfParse(frame.bytes));
      if (!"QPBDESC".includes(frame.type)) {
        inTurn(async () => void server.write(frame.bytes));
        continue;
      }
      round.push(frame.bytes);
      if (frame.type === "Q" || frame.type === "S") inTurn(send);
    }
  });
  server.on("data", (chunk: Buffer) => {
    for (const frame of fromServer(chunk)) {
      if (frame.type === "E") hasFailed = true;
      if (frame.type === "Z") status = frame.bytes.toString("latin1", 5, 6);
      if (point === null || frame.type === "G") {
        client.write(frame.bytes);
        continue;
      }
      answer.push(frame.bytes);
      if (frame.type !== "Z") continue;
      const [done, bytes] = [point, Buffer.concat(answer)];
      [point, answer] = [null, []];
      inTurn(async () => {
        if (!hasFailed && (await gate({ ...caller, point: nameOf(caller, done), when: "after" })) === "cut")
          return cut();
        client.write(bytes);
      });
    }
  });
}

const nameOf = ({ worker }: Caller, point: string) => `${worker} | postgres: ${point}`;

function textOfParse(bytes: Buffer): string {
  const start = bytes.indexOf(0, 5) + 1;
  return bytes.toString("utf8", start, bytes.indexOf(0, start));
}

/** Cuts a stream into messages. The first of a client has no type. */
function frames(startsPlain: boolean): (chunk: Buffer) => Frame[] {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = startsPlain;
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const found: Frame[] = [];
    for (;;) {
      const head = isFirst ? 0 : 1;
      if (rest.length < head + 4) return found;
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) return found;
      found.push({ type: isFirst ? "startup" : String.fromCharCode(rest[0] ?? 0), bytes: rest.subarray(0, length) });
      isFirst = false;
      rest = rest.subarray(length);
    }
  };
}
