import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type EmbeddedPostgres, startPostgres } from "../../lib/local/postgres/start-postgres.ts";
import { type CommandLine, openCommandLine } from "../support/processes/command-line.ts";
import { type RunningBridge, startRunningBridge } from "../support/worlds/running-bridge.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/worlds/workspace.ts";

vi.setConfig({ testTimeout: 600_000, hookTimeout: 300_000 });

/** How soon each place names a fault; and when nothing is left of it, on a busy machine. */
const NAMED = { timeout: 30_000, interval: 500 };
const OVER = { timeout: 180_000, interval: 500 };

const folder = mkdtempSync(join(tmpdir(), "bridge-faults-"));
let bridge: RunningBridge;
let postgres: EmbeddedPostgres;
let workspace: TestWorkspace;
let line: CommandLine;
let receiver: Server;
let answers = 200;
const received: { event: string; data: Record<string, unknown> }[] = [];
beforeAll(async () => {
  [bridge, postgres] = await Promise.all([
    startRunningBridge({ controls: true }),
    startPostgres({ dataDir: join(folder, "postgres") }),
  ]);
  workspace = await createTestWorkspace({
    salesforce: bridge.org.connection,
    postgres: { url: postgres.url, schema: "salesforce" },
  });
  line = openCommandLine();
  await line.run(["login", bridge.baseUrl, "--workspace", workspace.id], { stdin: `${workspace.token}\n` });
  for (const object of ["Contact", "Account"]) {
    const fields = object === "Contact" ? ["LastName", "Title", "Email"] : ["Name"];
    await line.run(["mapping", "create", object, "--fields", ...fields]);
    expect((await line.run(["mapping", "show", object, "--wait"])).code).toBe(0);
  }
  await sql("INSERT INTO salesforce.contact (lastname) VALUES ('Ada')");
  receiver = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => {
      body += part;
    });
    request.on("end", () => {
      received.push(JSON.parse(body));
      response.writeHead(answers).end();
    });
  }).listen(0, "127.0.0.1");
  await vi.waitFor(() => expect(receiver.listening).toBe(true));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  await line.run(["webhook", "create", url, "--events", "sync.broken", "sync.recovered", "sync.failure_spike"]);
  await vi.waitFor(
    async () => expect((await sql("SELECT sfid FROM salesforce.contact"))[0]?.["sfid"]).toBeTruthy(),
    OVER,
  );
});
afterAll(async () => {
  line.close();
  receiver.close();
  await bridge.close();
  await postgres.close();
  rmSync(folder, { recursive: true, force: true });
});

async function sql(statement: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  return (await client.query(statement).finally(() => client.end())).rows;
}

const control = (method: string, path: string, order?: object) => bridge.org.control(method, path, order);

/** The server's processes, which are frozen one by one, since each session has its own. */
function processes(): readonly number[] {
  const pid = readFileSync(
    execFileSync("find", [folder, "/var/tmp", "-name", "postmaster.pid", "-newer", folder], { encoding: "utf8" })
      .trim()
      .split("\n")[0] ?? "",
    "utf8",
  ).split("\n")[0];
  const children = execFileSync("pgrep", ["-P", String(pid)], { encoding: "utf8" });
  return [pid, ...children.trim().split("\n")].map(Number);
}

let frozen: readonly number[] = [];
const signal = (name: NodeJS.Signals) => {
  for (const pid of frozen)
    try {
      process.kill(pid, name);
    } catch {} // a session that has ended
};

const webhookId = async () => (await line.json<{ id: string }[]>(["webhook", "list"]))[0]?.id ?? "";
const change = () => sql(`UPDATE salesforce.contact SET title = 't${Date.now()}' WHERE lastname = 'Ada'`);

interface Fault {
  readonly cause: string;
  /** What happened and what helps, as each place says it. */
  readonly message: RegExp;
  readonly remedy: RegExp;
  readonly command: RegExp;
  /** Why the row waits, or Salesforce's refusal of it; left out: the fault is none of a row's. */
  readonly row?: RegExp;
  /** The webhook's event; left out: the engine does not stop, or not yet. */
  readonly event?: string;
  make(): Promise<unknown>;
  mend(): Promise<unknown>;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  "the org's calls are used up": {
    cause: "salesforce_limit",
    message: /^Salesforce refuses every call: the org's API calls of the last 24 hours are used up$/,
    remedy: /^wait until calls of the last 24 hours expire, or raise the org's API limit/,
    command: /^bridge poll (Contact|Account)$/,
    row: /^Waits since .*: Contact is broken \(Salesforce refuses every call: .* used up\)\. Sent automatically once calls are left\.$/,
    event: "sync.broken",
    make: () => control("PUT", "/calls", { used: 15_000, allowance: 15_000 }).then(change),
    mend: () => control("PUT", "/calls", { used: 100 }).then(() => line.run(["poll", "Contact"])),
  },
  "the org is read only": {
    cause: "org_read_only",
    message: /^the org is read only$/,
    remedy: /^wait until Salesforce's maintenance ends/,
    command: /^bridge poll Contact$/,
    row: /^Waits since .*: Contact is broken \(org is read only\)\. Sent automatically when the maintenance ends\.$/,
    event: "sync.broken",
    make: () => control("PUT", "/mode", { readOnly: true }).then(change),
    mend: () => control("PUT", "/mode", { readOnly: false }).then(() => line.run(["poll", "Contact"])),
  },
  "the user's grant is refused and its sessions are ended": {
    cause: "salesforce_authorization",
    message: /^Salesforce refuses Bridge's sign-in$/,
    remedy: /connect the workspace to Salesforce again|check user name, password/,
    command: /^bridge connect salesforce$/,
    row: /^Waits since .*: Contact is broken \(Salesforce refuses Bridge's sign-in\)\. Sent automatically once the workspace is connected again\.$/,
    event: "sync.broken",
    make: () =>
      control("POST", "/faults", { kind: "refusedGrant", path: "oauth2/token", times: 0 })
        .then(() => control("DELETE", "/sessions"))
        .then(change),
    mend: () => control("DELETE", "/faults").then(() => line.run(["poll", "Contact"])),
  },
  "PostgreSQL is frozen": {
    cause: "postgres_unavailable",
    message: /^PostgreSQL 127\.0\.0\.1:\d+ does not answer as it should$/,
    remedy: /^check that the server runs and accepts Bridge's connections/,
    command: /^bridge doctor$/,
    row: /could not be asked: .*; check that the server runs and accepts Bridge's connections/,
    make: async () => {
      frozen = processes();
      signal("SIGSTOP");
    },
    mend: async () => signal("SIGCONT"),
  },
  "PostgreSQL is gone": {
    cause: "postgres_unavailable",
    message: /^PostgreSQL 127\.0\.0\.1:\d+ does not answer as it should$/,
    remedy: /^check that the server runs and accepts Bridge's connections/,
    command: /^bridge doctor$/,
    row: /could not be asked: .*; check that the server runs and accepts Bridge's connections/,
    make: () => postgres.close(),
    mend: async () => {
      postgres = await startPostgres({ dataDir: join(folder, "postgres"), keepsPort: true });
    },
  },
  "a mapped column is dropped": {
    cause: "column_gone",
    message: /^Contact: a mapped column is gone$/,
    remedy: /^if it was renamed, give back the old name/,
    command: /^bridge poll Contact$/,
    row: /Contact is broken \(a mapped column is gone\)\. Sent automatically once the column is back/,
    event: "sync.broken",
    make: () => sql("ALTER TABLE salesforce.contact DROP COLUMN title"),
    mend: () => sql("ALTER TABLE salesforce.contact ADD COLUMN title varchar(128)"),
  },
  "the capture triggers are gone": {
    cause: "capture_off",
    message: /^Contact: changes of the table are not captured$/,
    remedy: /bridge mapping capture Contact --salesforce.*bridge mapping capture Contact --mine/,
    command: /^bridge mapping capture Contact --salesforce$/,
    row: /Contact is broken \(changes of the table are not captured\)\. Sent automatically once capture is on again\.$/,
    event: "sync.broken",
    make: async () => {
      const triggers = await sql(
        "SELECT tgname FROM pg_trigger WHERE tgrelid = 'salesforce.contact'::regclass AND NOT tgisinternal",
      );
      for (const { tgname } of triggers) await sql(`DROP TRIGGER "${tgname}" ON salesforce.contact`);
    },
    mend: () => line.run(["mapping", "capture", "Contact", "--mine", "--yes"]),
  },
  "Salesforce refuses 400 rows": {
    cause: "rows_refused",
    message: /^Salesforce refused 400 rows of Contact$/,
    remedy: /^correct the values in the rows; Bridge then sends them again$/,
    command: /^bridge errors --grouped$/,
    row: /INVALID_EMAIL_ADDRESS/,
    event: "sync.failure_spike",
    make: () =>
      sql(
        "INSERT INTO salesforce.contact (lastname, email) SELECT 'Bad ' || i, 'nowhere' FROM generate_series(1, 400) i",
      ),
    mend: () => sql("UPDATE salesforce.contact SET email = NULL WHERE email = 'nowhere'"),
  },
  "a webhook is paused": {
    cause: "webhook_paused",
    message: /^the webhook whk_\w+ at http:\/\/127\.0\.0\.1:\d+ is paused: it receives no events$/,
    remedy: /^resume it, then replay the events of the pause$/,
    command: /^bridge webhook update whk_\w+ --resume$/,
    make: async () => line.run(["webhook", "update", await webhookId(), "--pause"]),
    mend: async () => line.run(["webhook", "update", await webhookId(), "--resume"]),
  },
  "a webhook's receiver answers 500": {
    cause: "webhook_failing",
    message: /^the webhook whk_\w+ at http:\/\/127\.0\.0\.1:\d+ accepts no delivery$/,
    remedy: /^check its answers; once it accepts deliveries, replay those that were given up$/,
    command: /^bridge webhook deliveries whk_\w+$/,
    make: async () => {
      answers = 500;
      await line.run(["webhook", "test", await webhookId()]);
    },
    mend: async () => {
      answers = 200;
      await line.run(["webhook", "test", await webhookId()]);
    },
  },
};

interface Shown {
  readonly incidents?: readonly {
    cause: string;
    message: string;
    remedy: string;
    commands: string[];
    since: string | null;
  }[];
}

const incidents = async () => {
  const path = `/api/v1/t/${workspace.id}/health?incidents=true`;
  const { json } = await bridge.request("GET", path, { token: workspace.token });
  return (json?.data as Shown | undefined)?.incidents ?? [];
};

test.each(Object.entries(FAULTS))(
  "%s: banner, doctor, health, row, webhook and API name one cause and remedy, and nothing is left of it",
  async (name, fault) => {
    received.length = 0;
    await fault.make();
    try {
      await expectNamed(name, fault);
    } finally {
      await fault.mend();
    }

    await vi.waitFor(async () => {
      expect(await incidents()).toEqual([]);
      expect((await line.run(["doctor"])).stdout).not.toMatch(/^✗/m);
      const story = await line.json<{ waits: string | null }>(["row", "Contact", "1"]);
      expect(story.waits).toBeNull();
    }, OVER);
  },
);

const lastKey = async () => String((await sql("SELECT max(id) AS last FROM salesforce.contact"))[0]?.["last"]);

async function expectNamed(name: string, fault: Fault): Promise<void> {
  const found = await vi.waitFor(async () => {
    const all = await incidents();
    expect(all).toEqual([
      expect.objectContaining({
        cause: fault.cause,
        message: expect.stringMatching(fault.message),
        remedy: expect.stringMatching(fault.remedy),
        commands: expect.arrayContaining([expect.stringMatching(fault.command)]),
      }),
    ]);
    return all[0] ?? { cause: "", message: "", remedy: "", commands: [], since: null };
  }, NAMED);
  const health = await line.run(["health"]);
  const doctor = await line.run(["doctor"]);
  const key = name.includes("400") ? await lastKey() : "1";
  const row = await line.run(["row", "Contact", key]);

  for (const { stdout } of [health, doctor])
    for (const said of [found.message, found.remedy]) expect(stdout).toContain(said);
  for (const { stdout } of [health, doctor])
    expect(stdout.split("\n").map((one) => one.trim())).toContainEqual(expect.stringMatching(fault.command));
  expect(doctor.stdout).toMatch(new RegExp(`^${fault.cause === "webhook_paused" ? "!" : "✗"} `));
  expect(doctor.stdout.match(/^✗/gm) ?? [], doctor.stdout).toHaveLength(fault.cause === "webhook_paused" ? 0 : 1);
  if (fault.row) expect(row.stdout + row.stderr).toMatch(new RegExp(fault.row.source, "m"));
  if (fault.event) await vi.waitFor(() => expect(received.map(({ event }) => event)).toContain(fault.event), NAMED);
  if (fault.event === "sync.broken")
    expect(received.find(({ event }) => event === "sync.broken")?.data).toMatchObject({
      reason: fault.cause,
      commands: expect.arrayContaining([expect.stringMatching(fault.command)]),
    });
}
