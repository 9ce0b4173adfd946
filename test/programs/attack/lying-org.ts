import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { FLOODS, type LyingOrg, startLyingOrg } from "../../support/doubles/lying-org.ts";
import { lyingTexts } from "../../support/doubles/lying-texts.ts";
import { engineCalls, loginCalls } from "../../support/doubles/org-calls.ts";
import { type Attacked, inTime, type Part } from "./world.ts";

/** Processor time for which nothing else is answered. */
const LONGEST_SECONDS = 1;

/** More than anything keeps of an answer that was refused; a bomb has a gigabyte. */
const MOST_MEMORY = 200_000_000;

const REFUSED = /TOO_LARGE|in the encoding [a-z, ]+, which was not asked for/;

/** Calls whose answers are read whole. */
const WHOLE = /^(?!bulkResults|bulkSaved|the API)/;

/** The longest deadline of a call is that of a save. */
const CALL_MILLISECONDS = 150_000;

/** Letters of each text. */
const LETTERS = 50_000;

/** Statuses and types that the texts come with. */
const HEADS = [
  [200, "application/json"],
  [200, "text/html"],
  [500, "text/xml"],
] as const;

/**
 * A tenant whose org, or whatever host is named as login URL, lies in every way beside an honest tenant: no answer holds
 * the process for a second, none is read beyond its limit, and the honest tenant is answered all the time.
 */
export const org: Part = async (world) => {
  const findings: string[] = [];
  await using liar = await startLyingOrg();
  // A tenant who names it as login URL, in a schema of its own each time.
  const tenant = await world.bridge.createWorkspace(`liar_${process.hrtime.bigint()}`);
  const connect = () =>
    world.bridge.request("PUT", `/api/v1/t/${tenant.id}/connections/salesforce`, {
      token: tenant.token,
      body: { login_url: liar.url, credentials: CREDENTIALS },
    });
  // Functions are loaded when they are asked first.
  await Promise.all([connect(), world.ask("GET", "/mappings?include=inactive")]);
  const watch = watchProcess();
  let tried = 0;
  for (const { name, lie, isFlood } of liesOf(world)) {
    liar.answer(lie);
    for (const [call, ask] of [...callsOf(world, liar), ["the API", connect] as const]) {
      const ended = await inTime(ask(), CALL_MILLISECONDS);
      tried += 1;
      const words = typeof ended === "string" ? ended : String(JSON.stringify(ended));
      if (isFlood && WHOLE.test(call) && !REFUSED.test(words))
        findings.push(`${name}, by ${call}: it is read beyond its limit (${words.slice(0, 200)})`);
      if (words.startsWith("no end within")) findings.push(`${name}, by ${call}: ${words}`);
      const seconds = watch.busySeconds();
      if (seconds > LONGEST_SECONDS) findings.push(`${name}, by ${call}: nothing else ran for ${seconds.toFixed(1)} s`);
    }
    const kept = isFlood ? await watch.keptBytes() : 0;
    if (kept > MOST_MEMORY) findings.push(`${name}: ${Math.round(kept / 1e6)} MB of it are kept`);
    const honest = await world.ask("GET", "/mappings?include=inactive");
    if (honest.status !== 200) findings.push(`${name}: the honest tenant is answered ${honest.status}`);
  }
  watch.end();
  return { tried, findings };
};

const CREDENTIALS = { kind: "client_credentials", client_id: "id", client_secret: "secret" };

interface NamedLie {
  readonly name: string;
  readonly lie: Parameters<LyingOrg["answer"]>[0];
  readonly isFlood: boolean;
}

function liesOf({ size }: Attacked): readonly NamedLie[] {
  const texts = [...lyingTexts(LETTERS)].flatMap(([name, text]) =>
    HEADS.map(
      ([status, type]): NamedLie => ({
        name: `${name}, as ${type} with ${status}`,
        lie: (response) => response.writeHead(status, { "content-type": type, "sforce-locator": "null" }).end(text),
        isFlood: false,
      }),
    ),
  );
  const floods = Object.entries(FLOODS)
    .filter((_, at) => size.every === 1 || at % 3 === 0)
    .map(([name, lie]): NamedLie => ({ name, lie, isFlood: true }));
  const head: NamedLie = {
    name: "headers of a megabyte",
    lie: (response) => response.socket?.end(`HTTP/1.1 200 OK\r\nx: ${"a".repeat(1_000_000)}\r\n\r\n`),
    isFlood: false,
  };
  const cut: NamedLie = {
    name: "an answer that breaks off",
    lie: (response) => response.writeHead(200, { "content-length": 1_000 }).write('[{"a', () => response.destroy()),
    isFlood: false,
  };
  return [...texts.filter((_, at) => at % (size.every * 5) === 0), ...floods, head, cut];
}

/** Every call of the engine and of a login; in the short form some of them, of each kind of answer one. */
function callsOf({ doors, size }: Attacked, { url }: LyingOrg): readonly (readonly [string, () => Promise<unknown>])[] {
  const calls = Object.entries({ ...engineCalls(() => doors.readOrg(url)), ...loginCalls(() => url) });
  return size.every === 1 ? calls : calls.filter(([name]) => BRIEF.includes(name));
}

const BRIEF = ["query", "askTogether", "write", "describe", "bulkResults", "logIn"];

const MOST_ROUNDS = 100;

/** For how long the process was busy without a break since it was asked last, and how much more memory it holds. */
function watchProcess() {
  const before = usedBytes();
  const collect = collector();
  let [last, longest] = [threadSeconds(), 0];
  const look = () => {
    const now = threadSeconds();
    [last, longest] = [now, Math.max(longest, now - last)];
  };
  const timer = setInterval(look, 20);
  return {
    busySeconds: () => {
      look();
      const seconds = longest;
      longest = 0;
      return seconds;
    },
    keptBytes: async () => {
      // Buffers are given back some time after their collection; what is kept is never.
      for (let round = 0; round < MOST_ROUNDS && usedBytes() - before > MOST_MEMORY; round++) {
        collect();
        await setImmediate();
      }
      last = threadSeconds();
      return usedBytes() - before;
    },
    end: () => clearInterval(timer),
  };
}

/** Of this thread, so that nothing counts that other programs of the machine do. */
function threadSeconds(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1e6;
}

function usedBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The runtime's own collector of garbage, which only a flag shows. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}
