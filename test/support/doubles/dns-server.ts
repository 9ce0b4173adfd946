import { createSocket } from "node:dgram";
import { once } from "node:events";
import { isIPv6 } from "node:net";

/** A DNS server on this machine that answers from a table. */
export type DnsServer = Awaited<ReturnType<typeof startDnsServer>>;

/** What a name resolves to: its addresses, given again for each pair of A and AAAA queries, or another name. */
export type Zone = Readonly<Record<string, Entry>>;
type Entry = readonly string[] | { readonly alias: string } | ((question: number) => readonly string[]) | "silent";

const A = 1;
const CNAME = 5;
const AAAA = 28;
const NAME_ERROR = 3;

export async function startDnsServer(zone: Zone) {
  const socket = createSocket("udp4");
  const questions = new Map<string, number>();
  socket.on("message", (query, from) => {
    const { name, type, end } = readQuestion(query);
    const asked = (questions.get(`${name}/${type}`) ?? 0) + 1;
    questions.set(`${name}/${type}`, asked);
    const records = recordsOf(zone, name, type, asked);
    if (records !== "silent") socket.send(answer(query, end, records), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    /** As a resolver takes it. */
    address: `127.0.0.1:${socket.address().port}`,
    /** Resolves with the next query, whatever it asks for. */
    nextQuery: async () => {
      await once(socket, "message");
    },
    /** Queries for addresses (A and AAAA) that came for a name. */
    asked: (name: string) => (questions.get(`${name}/${A}`) ?? 0) + (questions.get(`${name}/${AAAA}`) ?? 0),
    close: async () => {
      socket.close();
      await once(socket, "close");
    },
  };
}

type Answers = readonly { readonly type: number; readonly bytes: Buffer }[] | null | "silent";

function recordsOf(zone: Zone, name: string, type: number, asked: number): Answers {
  const entry = zone[name];
  if (entry === undefined) return null;
  if (entry === "silent") return "silent";
  if (typeof entry === "object" && "alias" in entry) {
    const behind = recordsOf(zone, entry.alias, type, asked);
    if (behind === "silent") return "silent";
    return [{ type: CNAME, bytes: encodeName(entry.alias) }, ...(behind ?? [])];
  }
  const addresses = typeof entry === "function" ? entry(asked) : entry;
  const wanted = addresses.filter((address) => isIPv6(address) === (type === AAAA));
  return wanted.map((address) => ({ type, bytes: type === AAAA ? ipv6Bytes(address) : ipv4Bytes(address) }));
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function answer(query: Buffer, questionEnd: number, records: Exclude<Answers, "silent">): Buffer {
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180 | (records === null ? NAME_ERROR : 0), 2);
  header.writeUInt16BE(records?.length ?? 0, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, query.subarray(12, questionEnd), ...encodeRecords(query, questionEnd, records ?? [])]);
}

/** Each record belongs to the name before it: the question's, then that of the alias. */
function encodeRecords(query: Buffer, questionEnd: number, records: readonly { type: number; bytes: Buffer }[]) {
  let owner: Buffer = query.subarray(12, questionEnd - 4);
  return records.map(({ type, bytes }) => {
    const fixed = Buffer.alloc(10);
    fixed.writeUInt16BE(type, 0);
    fixed.writeUInt16BE(1, 2);
    fixed.writeUInt16BE(bytes.length, 8);
    const record = Buffer.concat([owner, fixed, bytes]);
    if (type === CNAME) owner = bytes;
    return record;
  });
}

function encodeName(name: string): Buffer {
  const labels = name.split(".").map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.from([0])]);
}

const ipv4Bytes = (address: string): Buffer => Buffer.from(address.split(".").map(Number));

function ipv6Bytes(address: string): Buffer {
  const [head = "", tail = ""] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::");
  const before = head === "" ? [] : head.split(":");
  const behind = tail === "" ? [] : tail.split(":");
  const groups = [...before, ...Array<string>(8 - before.length - behind.length).fill("0"), ...behind];
  const bytes = Buffer.alloc(16);
  for (const [at, group] of groups.entries()) bytes.writeUInt16BE(Number.parseInt(group, 16), at * 2);
  return bytes;
}
