import { enableCompileCache } from "node:module";
import { constants } from "node:os";
import { format } from "node:util";
import type { Instance } from "../lib/local/instance.ts";
import { readOptions } from "../lib/local/read-options.ts";

const HELP = `Runs Bridge on this machine: the service, a PostgreSQL, the cloud that it needs and a Salesforce org.

  npm start -- [options]

  --port N            port of the service; 0 picks a free one            PORT (default 8080)
  --data-dir FOLDER   everything that is kept                            BRIDGE_DATA_DIR (default .bridge)
  --database-url URL  a PostgreSQL 13 or later instead of the embedded   DATABASE_URL
  --host ADDRESS      where to listen                                    HOST (default 127.0.0.1)
  --no-demo           no demo workspace; make one with: npx bridge workspace create
  --quiet-demo        the demo begins with two empty mappings: no sample data, and no writer
  --isolate           a process per function, as on Lambda
  --org-latency S,J   seconds that the Salesforce org takes for 200 records of a call, and for 10,000 of a Bulk job;
                      a real org takes about 1,30
  --json              when ready, the content of instance.json on one line
  --help
`;

const flags = readOptions(HELP, {
  port: { type: "string", default: process.env["PORT"] || "8080" },
  "data-dir": { type: "string", default: process.env["BRIDGE_DATA_DIR"] || ".bridge" },
  "database-url": { type: "string", default: process.env["DATABASE_URL"] ?? "" },
  host: { type: "string", default: process.env["HOST"] || "127.0.0.1" },
  "no-demo": { type: "boolean", default: false },
  "quiet-demo": { type: "boolean", default: false },
  isolate: { type: "boolean", default: false },
  "org-latency": { type: "string" },
  json: { type: "boolean", default: false },
});

// The parts are loaded after this, so that the next start finds them compiled.
enableCompileCache();
const { harmless } = await import("../lib/local/harmless.ts");
const { startInstance } = await import("../lib/local/instance.ts");
const { welcome } = await import("../lib/local/welcome.ts");

await serve().catch((error: Error) => {
  console.error(harmless(`\nBridge did not start: ${error.message}`));
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause)
    console.error(harmless(`  because: ${cause.message}`));
  process.exit(1);
});

async function serve(): Promise<void> {
  const began = performance.now();
  const say = (line: string) => void process.stderr.write(harmless(`${line}\n`));
  const onLoss = (reason: string) => {
    say(`\nBridge stops: ${reason}. Start it again; nothing is lost.`);
    process.exit(1);
  };
  process.on("uncaughtException", (fault) => {
    console.error(harmless(format(fault)));
    onLoss(`${fault.message} (the log has more)`);
  });
  let instance: Instance | null = null;
  stopOnSignal(() => instance, say);
  instance = await startInstance({
    port: portOf(flags.port),
    host: flags.host,
    dataDir: flags["data-dir"],
    databaseUrl: flags["database-url"] === "" ? null : flags["database-url"],
    demo: !flags["no-demo"],
    quiet: flags["quiet-demo"],
    isolate: flags.isolate,
    orgLatency: flags["org-latency"] ?? null,
    progress: (step) => say(`  ${((performance.now() - began) / 1000).toFixed(1).padStart(5)} s  ${step}`),
    show: say,
    onLoss,
  });
  const ready = flags.json ? JSON.stringify(instance.file) : welcome(instance.file, instance.filePath);
  process.stdout.write(harmless(`${ready}\n`));
}

/** The first signal stops what runs in order. One that comes earlier, or again, kills the process; nothing is lost. */
function stopOnSignal(running: () => Instance | null, say: (line: string) => void): void {
  let isStopping = false;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      const instance = running();
      if (!instance) say("  stopped before it was ready; the next start continues from here");
      if (!instance || isStopping) process.exit(128 + constants.signals[signal]);
      isStopping = true;
      say("  stopping …");
      instance.close().then(
        () => process.exit(0),
        (error: Error) => {
          say(`  stopping failed: ${error.message}`);
          process.exit(1);
        },
      );
    });
  }
}

function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new Error(`--port ${text}: a port is a whole number from 0 to 65535`);
}
