import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { refuseAddress } from "../../../lib/adapters/webhook-client/addresses.ts";
import { DEVELOPMENT, PRODUCTION } from "../../../lib/model/address.ts";
import { guardConnections, guardedLookup, refusedLiteral } from "../../../lib/network/guarded-dns.ts";
import { HOSTS, NUMERIC_HOSTS } from "./address-forms.ts";
import { inTime, type Part } from "./world.ts";

/** Whatever host is written, and wherever a name leads: nothing is saved that must not be reached, and nothing is sent. */
export const addresses: Part = async ({ doors }) => {
  const findings: string[] = [];
  for (const host of HOSTS) {
    const url = `https://${host}/`;
    // A name may lead elsewhere when it is saved than when it is asked.
    if ((await doors.save(url)) === null && !host.startsWith("rebinding."))
      findings.push(`${JSON.stringify(url)} can be saved`);
    const { problem } = await doors.post(url, PRODUCTION);
    // A question to the DNS may be lost on a busy machine; then nothing is asked either.
    if (!problem?.startsWith("refused: ") && !problem?.endsWith("the name's address"))
      findings.push(`${JSON.stringify(url)} is asked: ${problem}`);
  }
  guardConnections((address) => refuseAddress(address, PRODUCTION));
  try {
    for (const host of NUMERIC_HOSTS)
      if (!(await isRefused(host))) findings.push(`a database or org at ${host} is connected to`);
  } finally {
    guardConnections(() => null);
  }
  return { tried: HOSTS.length + NUMERIC_HOSTS.length, findings };
};

async function isRefused(host: string): Promise<boolean> {
  if (refusedLiteral(host)) return true;
  return await new Promise((resolve) => guardedLookup(host, { all: true }, (error) => resolve(error !== null)));
}

const STATUSES = [300, 301, 302, 303, 305, 307, 308];

/** An org, a login host or a receiver that redirects leads nowhere, whatever the status and the place. */
export const redirects: Part = async ({ doors }) => {
  const findings: string[] = [];
  let reached = 0;
  const target = createServer((_, response) => response.end(`${++reached}`)).listen(0, "127.0.0.1");
  await once(target, "listening");
  const at = `127.0.0.1:${(target.address() as AddressInfo).port}`;
  const places = [`http://${at}/`, `//${at}/`, `http://localhost:${at.split(":")[1]}/`, `http://user@${at}/`];
  const org = createServer((request, response) => {
    const [, status, place] = (request.url ?? "").split("/").map(Number);
    response.writeHead(status ?? 302, { location: places[place ?? 0], refresh: `0; url=${places[place ?? 0]}` }).end();
  }).listen(0, "127.0.0.1");
  await once(org, "listening");
  const url = `http://127.0.0.1:${(org.address() as AddressInfo).port}`;
  const tried = STATUSES.flatMap((status) => places.map((_, place) => `${url}/${status}/${place}`));
  for (const one of tried) {
    const before = reached;
    await Promise.allSettled([doors.askOrg(one), doors.post(one, DEVELOPMENT)]);
    if (reached > before)
      findings.push(`a redirect is followed: ${new URL(one).pathname} to ${places[Number(one.at(-1))]}`);
  }
  for (const server of [org, target]) server.close().closeAllConnections();
  return { tried: tried.length * 2, findings };
};

const SLOW = ["blackHole", "headerDrip", "statusDrip", "processingDrip", "bodyDrip"];

/** An attempt has five seconds, some for the machine. */
const ATTEMPT_MILLISECONDS = 8_000;
const MOST_MEMORY = 60_000_000;

/** However a receiver behaves: an attempt ends in time, keeps 1 KB at most, and costs no memory. */
export const receivers: Part = async ({ doors, size }) => {
  const findings: string[] = [];
  const child = fork(join(import.meta.dirname, "../../support/processes/hostile-receivers.ts"));
  const [ports] = (await once(child, "message")) as [Readonly<Record<string, number>>];
  const asked = Object.entries(ports).filter(([name]) => size.slow || !SLOW.includes(name));
  const before = process.memoryUsage().rss;
  await Promise.all(
    asked.map(async ([name, port]) => {
      const answer = await inTime(doors.post(`http://127.0.0.1:${port}/`, DEVELOPMENT), ATTEMPT_MILLISECONDS);
      if (typeof answer === "string") findings.push(`${name}: ${answer}`);
      else if (Buffer.byteLength(answer.body) > 1024)
        findings.push(`${name}: ${answer.body.length} characters are kept`);
    }),
  );
  const grown = process.memoryUsage().rss - before;
  if (grown > MOST_MEMORY) findings.push(`memory grew by ${Math.round(grown / 1e6)} MB`);
  child.disconnect();
  await once(child, "exit");
  return { tried: asked.length, findings };
};
