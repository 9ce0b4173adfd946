import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { Client } from "pg";
import { assemble } from "../../../../../lib/local/assemble.ts";
import { freePort } from "../../../../../lib/local/free-port.ts";
import type { Org } from "../../../../../lib/local/org/start-org.ts";
import { postgresHome } from "../../../../../lib/local/postgres/postgres-home.ts";
import { type Postgres, startPostgres } from "../../../../../lib/local/postgres/start-postgres.ts";
import { createOrgUser, type OrgUser } from "../../../../support/clients/org-user.ts";
import { connectionAs } from "../../../connection-as.ts";
import type { Gate } from "../wire/passage.ts";
import { openWire, type Wire } from "../wire/wire.ts";
import { copyFolder, copyRows, copyTables, type PutBack } from "./copies.ts";
import { type Door, openDoor } from "./door.ts";
import type { HostOrder, HostRequest } from "./hold-host.ts";
import type { OrgOrder } from "./hold-org.ts";
import { type MovedClock, movedClock, setMovedClock } from "./moved-clock.ts";

/** The whole of Bridge with both its sides, each part in processes of its own that may be killed and stopped. */
export interface Stage {
  readonly clock: MovedClock;
  readonly wire: Wire;
  readonly door: Door;
  readonly org: Omit<Org, "close">;
  readonly databaseUrl: string;
  /** The same database as a superuser, and the file that holds how far the proof's time is ahead, in milliseconds. */
  readonly superuserUrl: string;
  readonly clockFile: string;
  readonly workspaceId: string;
  /** Lines of the functions' log, whatever host they ran on, of cycles that noted something. */
  readonly notes: readonly { readonly at: number; readonly line: string }[];
  /** A request to Bridge's API as the administrator; tries again while the host is away. */
  api(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Puts a message into a queue, beside what Bridge sends itself. Lost when the host is away. */
  send(queue: string, message: unknown, delaySeconds?: number): void;
  /** The processes of functions that may still run. */
  killHost(): Promise<void>;
  killPostgres(): Promise<void>;
  killOrg(): Promise<void>;
  /** The host with its queues and tables, the database, or the org is frozen and comes back. */
  stopHost(milliseconds: number): Promise<void>;
  stopPostgres(milliseconds: number): Promise<void>;
  stopOrg(milliseconds: number): Promise<void>;
  /** PostgreSQL as it is now, as a folder or as a dump; gives what puts it back. */
  copyPostgres(how: "folder" | "dump"): Promise<PutBack>;
  /** DynamoDB as it is now. */
  copyDynamoDb(): PutBack;
  close(): Promise<void>;
}

interface StageSettings {
  readonly gate: Gate;
  readonly definition: object;
  /** What the org's rings may name. */
  readonly objects: readonly string[];
  /** How many processes one function may have. */
  readonly environments: number;
}

/** Starts it all in a folder of its own, empty but for a connected workspace. */
export async function openStage({ gate, definition, objects, environments }: StageSettings): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "bridge-proof-"));
  chmodSync(folder, 0o711); // PostgreSQL may run as another user below it
  const clockFile = join(folder, "ahead");
  setMovedClock(clockFile, 0);
  const ports = { postgres: await freePort(0), org: await freePort(0) };
  const orgOrder: OrgOrder = { dataDir: join(folder, "org"), port: ports.org, clockFile, definition };
  const postgresAt = () => startPostgres({ dataDir: join(folder, "postgres"), port: ports.postgres });
  const wire = await openWire({ gate, postgresPort: ports.postgres, orgPort: ports.org });
  const door = await openDoor({ host: () => hostUrl(), objects });
  const assembly = await assemble();
  const hostOrder: HostOrder = {
    dataDir: join(folder, "cloud"),
    assembly,
    wirePort: wire.port,
    clockFile,
    announcer: pathToFileURL(join(import.meta.dirname, "announce.ts")).href,
    environments,
    publicUrl: door.url,
  };
  const notes: Stage["notes"][number][] = [];
  const hear = (line: string) => {
    if (process.env["PROOF_TALKS"]) console.error(line);
    if (line.includes('"notes":["')) notes.push({ at: Date.now(), line });
  };
  const parts = {
    postgres: await postgresAt(),
    org: await hold("hold-org.ts", orgOrder, hear),
    host: await hold("hold-host.ts", hostOrder, hear),
  };
  const hostUrl = () => (parts.host.said as { readonly baseUrl: string }).baseUrl;
  const org = parts.org.said as Omit<Org, "close">;
  const workspace = await workspaceOn(parts.host.child, parts.postgres, org, await createOrgUser(org, "bridge"));
  let isClosing = false;
  let copies = 0;
  const nextCopy = () => {
    copies += 1;
    return `copy_${copies}`;
  };
  const server = {
    stop: () => parts.postgres.close(),
    start: async () => {
      parts.postgres = await postgresAt();
    },
  };
  const host = {
    stop: () => kill(parts.host.child),
    start: async () => {
      parts.host = await hold("hold-host.ts", hostOrder, hear);
    },
  };

  return {
    clock: movedClock(clockFile),
    wire,
    door,
    org,
    databaseUrl: parts.postgres.url,
    superuserUrl: parts.postgres.superuserUrl,
    clockFile,
    workspaceId: workspace.id,
    notes,
    api: async (method, path, body) => {
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
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    },
    send: (queue, message, delaySeconds = 0) => {
      const request: HostRequest = { kind: "send", queue: `bridge-dev-${queue}`, message, delaySeconds };
      if (parts.host.child.connected) parts.host.child.send(request, () => undefined);
    },
    killHost: async () => {
      await host.stop();
      await host.start();
    },
    killOrg: async () => {
      await kill(parts.org.child);
      parts.org = await hold("hold-org.ts", orgOrder, hear);
    },
    killPostgres: async () => {
      process.kill(postmasterOf(folder), "SIGKILL");
      await parts.postgres.exited;
      await server.stop();
      await server.start();
    },
    stopPostgres: async (milliseconds) => freeze(await sessionsOf(parts.postgres, postmasterOf(folder)), milliseconds),
    stopHost: (milliseconds) => freeze([parts.host.child.pid ?? 0], milliseconds),
    stopOrg: (milliseconds) => freeze([parts.org.child.pid ?? 0], milliseconds),
    copyPostgres: (how) =>
      how === "folder"
        ? copyFolder(clusterOf(folder), join(postgresHome(join(folder, "postgres")), nextCopy()), server)
        : copyRows(parts.postgres.superuserUrl, nextCopy(), ["salesforce", "proof"]),
    copyDynamoDb: () => copyTables(join(folder, "cloud"), join(folder, nextCopy()), host),
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

interface Held {
  readonly child: ChildProcess;
  /** The line that it printed when it was ready. */
  readonly said: unknown;
}

async function hold(script: string, order: object, hear: (line: string) => void): Promise<Held> {
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
  return { child, said: JSON.parse(String(line)) };
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

async function workspaceOn(
  host: ChildProcess,
  { url }: Postgres,
  org: Omit<Org, "close">,
  user: OrgUser,
): Promise<{ id: string; token: string }> {
  const request: HostRequest = { kind: "workspace", databaseUrl: url, salesforce: connectionAs(org, user) };
  host.send(request);
  const [made] = (await once(host, "message")) as [{ id: string; token: string }];
  return made;
}

/** The server writes its own pid into its data. */
function postmasterOf(folder: string): number {
  return Number.parseInt(readFileSync(join(clusterOf(folder), "postmaster.pid"), "utf8"), 10);
}

const clusterOf = (folder: string) => join(postgresHome(join(folder, "postgres")), "cluster");

async function sessionsOf({ url }: Postgres, postmaster: number): Promise<number[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()",
  );
  await client.end();
  return [postmaster, ...rows.map(({ pid }) => pid)];
}

/** Processes that ended meanwhile need no waking. */
async function freeze(pids: readonly number[], milliseconds: number): Promise<void> {
  for (const pid of pids) signal(pid, "SIGSTOP");
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  for (const pid of pids) signal(pid, "SIGCONT");
}

export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
