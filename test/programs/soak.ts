import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readOptions } from "../../lib/local/read-options.ts";
import { RunningInstance } from "../support/processes/instance.ts";
import { request } from "./ask.ts";
import { report, say } from "./bench/figures.ts";
import { probed } from "./bench/live-bytes.ts";
import { figuresOf } from "./soak/figures.ts";
import { differencesWhenSettled, fillTables, startLoad } from "./soak/load.ts";
import { type Sample, takeSample } from "./soak/sample.ts";

const HELP = `npm run soak [-- --hours 2]

Whether Bridge can run for weeks. npm start in a process of its own, with its PostgreSQL, cloud and org, takes changes of
both sides for hours, some of which Salesforce refuses; one webhook fails half of the time. After a tenth of the time it
is killed (SIGKILL) and started again. Once a minute it is looked at: what is live on its heap after a forced collection,
memory, open files, the data folder by part, how long a change takes either way. At the end both sides are compared. Ends
with 1 when the live heap, without what V8 has compiled, grew by more than 2 MB in the last hour, or the sides differ.

  --hours N    how long (2); reads memory and open files from /proc, which only Linux has
  --minutes N  the same in minutes, to see that it works; growth is then extrapolated from little
  --rate N     changes a second, half of them on each side (10)
  --json       the figures as JSON
`;

const options = readOptions(HELP, {
  hours: { type: "string", default: "2" },
  minutes: { type: "string" },
  rate: { type: "string", default: "10" },
  json: { type: "boolean", default: false },
});

/** Deletes are 2 % of the changes, and a tenth of a table an hour is not held back. */
const ROWS_PER_CHANGE_A_SECOND = 300;
/** Short runs are looked at so often all the same. */
const FEWEST_SAMPLES = 12;

const minutes = Number(options.minutes ?? Number(options.hours) * 60);
const rate = Number(options.rate);
const liveBytesFile = join(tmpdir(), `bridge-soak-${process.pid}`);
const instance = new RunningInstance({ environment: probed(liveBytesFile) });
let received = 0;
/** A customer's endpoint: answers 200, but half of the time `/failing` with 500. */
const receiver = createServer((request, response) => {
  received += 1;
  request.resume();
  response.writeHead(request.url === "/failing" && Math.random() < 0.5 ? 500 : 200).end();
}).listen(0, "127.0.0.1");
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => end().finally(() => process.exit(1)));
try {
  const samples = await runUnderLoad();
  report(figuresOf(samples, await differencesWhenSettled(instance)), options);
} finally {
  await end();
}

async function end(): Promise<void> {
  await instance.stop();
  receiver.closeAllConnections();
  receiver.close();
  for (const path of [liveBytesFile, instance.dataDir]) rmSync(path, { recursive: true, force: true });
}

async function runUnderLoad(): Promise<Sample[]> {
  await start();
  const { port } = receiver.address() as AddressInfo;
  for (const path of ["/well", "/failing"])
    await instance.api("POST", "/webhooks", { url: `http://127.0.0.1:${port}${path}`, events: ["record.failed"] });
  await fillTables(instance, ROWS_PER_CHANGE_A_SECOND * rate);
  if ((await differencesWhenSettled(instance)) > 0)
    throw new Error("the rows of the beginning did not reach Salesforce");
  say("filled");
  const load = startLoad(instance, rate);
  const samples = await watch();
  await load.stop();
  say(`${JSON.stringify(load.done)}; ${received} deliveries`);
  return samples;
}

/** The load alone makes more calls than the org allows a day; each start of it forgets that it allows more. */
async function start(): Promise<void> {
  const { url, access_token } = (await instance.start()).salesforce;
  await request(`${url}/_sim/calls`, access_token, "PUT", { allowance: 1_000_000_000 });
}

/** Samples until the time is over, with a kill after its first tenth. */
async function watch(): Promise<Sample[]> {
  const loadBegan = performance.now();
  const passed = () => (performance.now() - loadBegan) / 60_000;
  const every = Math.min(1, minutes / FEWEST_SAMPLES);
  const samples: Sample[] = [];
  let isRestarted = false;
  for (let next = every; next <= minutes; next = Math.max(next + every, passed())) {
    await pause(Math.max(0, (next - passed()) * 60_000));
    if (!isRestarted && passed() >= minutes / 10) {
      await instance.kill();
      await start();
      isRestarted = true;
      say("killed, and started again");
      continue;
    }
    try {
      samples.push(await takeSample(instance, liveBytesFile, passed()));
      say(JSON.stringify(samples.at(-1)));
    } catch (error) {
      say(`no sample: ${String(error)}`);
    }
  }
  return samples;
}
