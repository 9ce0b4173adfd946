import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { assemble } from "../../../../../lib/local/assemble.ts";
import { freePort } from "../../../../../lib/local/free-port.ts";
import type { Org } from "../../../../../lib/local/org/start-org.ts";
import { postgresHome } from "../../../../../lib/local/postgres/postgres-home.ts";
import { startPostgres } from "../../../../../lib/local/postgres/start-postgres.ts";
import { createOrgUser } from "../../../../support/clients/org-user.ts";
import { connectionAs } from "../../../connection-as.ts";
import { definitionOf, type Proved } from "../mapped-objects.ts";
import { queryOnce } from "../query-once.ts";
import type { Gate } from "../wire/passage.ts";
import { openWire } from "../wire/wire.ts";
import { copyFolder, copyRows, copyTables, type PutBack } from "./copies.ts";
import { openDoor } from "./door.ts";
import type { HostOrder, HostRequest } from "./hold-host.ts";
import type { OrgOrder } from "./hold-org.ts";
import { movedClock, setMovedClock } from "./moved-clock.ts";

/** The whole of Bridge with both its sides, each part in processes of its own that may be killed and stopped. */
export type Stage = Awaited<ReturnType<typeof openStage>>;

/** How long a part is frozen: as long as a read may take, and a little more. */
const STOPPED_MILLISECONDS = 17_000;

/** Starts it all in a folder of its own, empty but for a connected workspace. So many processes one function may have. */
export async function openStage(gate: Gate, mappings: readonly Proved[], environments: number) {
  const folder = mkdtempSync(join(tmpdir(), "bridge-proof-"));
  chmodSync(folder, 0o711); // PostgreSQL may run as another user below it
  const clockFile = join(folder, "ahead");
  setMovedClock(clockFile, 0);
  const ports = { postgres: await freePort(0), org: await freePort(0) };
  const postgresDir = join(folder, "postgres");
  const cluster = join(postgresHome(postgresDir), "cluster");
  /** The server writes its own pid into its data. */
  const postmaster = () => Number.parseInt(readFileSync(join(cluster, "postmaster.pid"), "utf8"), 10);
  const orgOrder: OrgOrder = {
    dataDir: join(folder, "org"),
    port: ports.org,
    clockFile,
    definition: definitionOf(mappings),
  };
  const wire = await openWire(gate, ports.postgres, ports.org);
  const door = await openDoor(
    () => hostUrl(),
    mappings.map(({ object }) => object),
  );
  const hostOrder: HostOrder = {
    dataDir: join(folder, "cloud"),
    assembly: await assemble(),
    wirePort: wire.port,
    clockFile,
    announcer: pathToFileURL(join(import.meta.dirname, "announce.ts")).href,
    environments,
    publicUrl: door.url,
  };
  /** Lines of the functions' log, whatever host they ran on, of cycles that noted something. */
  const notes: { readonly at: number; readonly line: string }[] = [];
  const hear = (line: string) => {
    if (line.includes('"notes":["')) notes.push({ at: Date.now(), line });
  };
  const startServer = () => startPostgres({ dataDir: postgresDir, port: ports.postgres });
  const startOrg = () => hold("hold-org.ts", orgOrder, hear);
  const startHost = () => hold("hold-host.ts", hostOrder, hear);
  const parts = { postgres: await startServer(), org: await startOrg(), host: await startHost() };
  const { url: databaseUrl, superuserUrl } = parts.postgres;
  const hostUrl = () => (parts.host.said as { readonly baseUrl: string }).baseUrl;
  const org = parts.org.said as Omit<Org, "close">;
  const salesforce = connectionAs(org, await createOrgUser(org, "bridge"));
  parts.host.child.send({ kind: "workspace", databaseUrl, salesforce } satisfies HostRequest);
  const [workspace] = (await once(parts.host.child, "message")) as [{ readonly id: string; readonly token: string }];
  let isClosing = false;
  const nextCopy = () => `copy_${Date.now()}`;
  const server = {
    stop: () => parts.postgres.close(),
    start: async () => {
      parts.postgres = await startServer();
    },
  };
  const host = {
    stop: () => kill(parts.host.child),
    start: async () => {
      parts.host = await startHost();
    },
  };

  return {
    clock: movedClock(clockFile),
    wire,
    door,
    org,
    databaseUrl,
    /** The same database as a superuser, and the file that holds how far the proof's time is ahead, in milliseconds. */
    superuserUrl,
    clockFile,
    workspaceId: workspace.id,
    notes,
    /** A request to Bridge's API as the administrator; tries again while the host is away. */
    api: async (method: string, path: string, body?: unknown): Promise<unknown> => {
      for (let attempt = 1; ; attempt++) {
        const answer = await fetch(`${hostUrl()}/api/v1/t/${workspace.id}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${workspace.token}`,
            ...(body !== undefined && { "content-type": "application/json" }),
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }).catch(() => null);
        const text = (await answer?.text().catch(() => null)) ?? null;
        if (answer && text !== null && answer.status < 500) {
          if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
          return (JSON.parse(text) as { data: unknown }).data;
        }
        if (isClosing || attempt === 60) throw new Error(`${method} ${path} is not answered: ${text}`);
        await pause(1000);
      }
    },
    /** Puts a message into a queue, beside what Bridge sends itself. Lost when the host is away. */
    send: (queue: string, message: unknown, delaySeconds = 0) => {
      const request: HostRequest = { kind: "send", queue: `bridge-dev-${queue}`, message, delaySeconds };
      if (parts.host.child.connected) parts.host.child.send(request, () => undefined);
    },
    /** How the host with its queues and tables, the database, or the org is killed and started again, or frozen. */
    ways: {
      host: {
        kill: async () => {
          await host.stop();
          await host.start();
        },
        stop: () => freeze([parts.host.child.pid ?? 0]),
      },
      PostgreSQL: {
        kill: async () => {
          process.kill(postmaster(), "SIGKILL");
          await parts.postgres.exited;
          await server.stop();
          await server.start();
        },
        stop: async () => {
          const sessions = "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()";
          const found = await queryOnce<{ readonly pid: number }>(databaseUrl, sessions);
          await freeze([postmaster(), ...found.map(({ pid }) => pid)]);
        },
      },
      Salesforce: {
        kill: async () => {
          await kill(parts.org.child);
          parts.org = await startOrg();
        },
        stop: () => freeze([parts.org.child.pid ?? 0]),
      },
    },
    /** PostgreSQL as it is now, as a folder or as a dump; gives what puts it back. */
    copyPostgres: (how: "folder" | "dump"): Promise<PutBack> =>
      how === "folder"
        ? copyFolder(cluster, join(postgresHome(postgresDir), nextCopy()), server)
        : copyRows(superuserUrl, nextCopy(), ["salesforce", "proof"]),
    /** DynamoDB as it is now. */
    copyDynamoDb: (): PutBack => copyTables(join(folder, "cloud"), join(folder, nextCopy()), host),
    close: async () => {
      isClosing = true;
      await kill(parts.host.child);
      await kill(parts.org.child);
      await parts.postgres.close();
      wire.close();
      door.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A process and the line that it printed when it was ready. */
async function hold(script: string, order: object, hear: (line: string) => void) {
  const child = fork(join(import.meta.dirname, script), [JSON.stringify(order)], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const gone = once(child, "exit");
  if (!child.stdout) throw new Error("no output to read");
  const lines = createInterface({ input: child.stdout });
  const [line] = await Promise.race([
    once(lines, "line"),
    gone.then(() => {
      throw new Error(`${script} ended before it was ready`);
    }),
  ]);
  lines.on("line", hear);
  return { child, said: JSON.parse(String(line)) as unknown };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** Processes that ended meanwhile need no waking. */
async function freeze(pids: readonly number[]): Promise<void> {
  for (const pid of pids) signal(pid, "SIGSTOP");
  await pause(STOPPED_MILLISECONDS);
  for (const pid of pids) signal(pid, "SIGCONT");
}

export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
