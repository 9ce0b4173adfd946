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

/** The words of each cause are those of `test/health/incidents.test.ts`: here every place has them. */
interface Fault {
  readonly cause: string;
  /** Why the row waits, or Salesforce's refusal of it; left out: the fault is none of a row's. */
  readonly row?: RegExp;
  /** The webhook's event; left out: the engine does not stop, or not yet. */
  readonly event?: string;
  make(): Promise<unknown>;
  mend(): Promise<unknown>;
}

const poll = () => line.run(["poll", "Contact"]);
const waits = (why: string, until: string) =>
  new RegExp(
    `^(?:Waits|Nothing of it moves) since .*: Contact is broken \\(${why}\\)\\. Sent automatically ${until}\\.$`,
    "m",
  );
const UNREACHABLE = {
  cause: "postgres_unavailable",
  row: /could not be asked: .*; check that the server runs and accepts Bridge's connections/,
};

const FAULTS: Readonly<Record<string, Fault>> = {
  "the org's calls are used up": {
    cause: "salesforce_limit",
    row: waits("Salesforce refuses every call: .* used up", "once calls are left"),
    event: "sync.broken",
    make: () => control("PUT", "/calls", { used: 15_000, allowance: 15_000 }).then(change),
    mend: () => control("PUT", "/calls", { used: 100 }).then(poll),
  },
  "the org is read only": {
    cause: "org_read_only",
    row: waits("org is read only", "when the maintenance ends"),
    event: "sync.broken",
    make: () => control("PUT", "/mode", { readOnly: true }).then(change),
    mend: () => control("PUT", "/mode", { readOnly: false }).then(poll),
  },
  "the user's grant is refused and its sessions are ended": {
    cause: "salesforce_authorization",
    row: waits("Salesforce refuses Bridge's sign-in", "once the workspace is connected again"),
    event: "sync.broken",
    make: () =>
      control("POST", "/faults", { kind: "refusedGrant", path: "oauth2/token", times: 0 })
        .then(() => control("DELETE", "/sessions"))
        .then(change),
    mend: () => control("DELETE", "/faults").then(poll),
  },
  "PostgreSQL is frozen": {
    ...UNREACHABLE,
    make: async () => {
      frozen = processes();
      signal("SIGSTOP");
    },
    mend: async () => signal("SIGCONT"),
  },
  "PostgreSQL is gone": {
    ...UNREACHABLE,
    make: () => postgres.close(),
    mend: async () => {
      postgres = await startPostgres({ dataDir: join(folder, "postgres"), keepsPort: true });
    },
  },
  "a mapped column is dropped": {
    cause: "column_gone",
    row: waits("a mapped column is gone", "once the column is back.*"),
    event: "sync.broken",
    make: () => sql("ALTER TABLE salesforce.contact DROP COLUMN title"),
    mend: () => sql("ALTER TABLE salesforce.contact ADD COLUMN title varchar(128)"),
  },
  "the capture triggers are gone": {
    cause: "capture_off",
    row: waits("changes of the table are not captured", "once capture is on again"),
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
    ...{ cause: "rows_refused", row: /INVALID_EMAIL_ADDRESS/, event: "sync.failure_spike" },
    make: async () => {
      await sql(
        "INSERT INTO salesforce.contact (lastname, email) SELECT 'Bad ' || i, 'nowhere' FROM generate_series(1, 400) i",
      );
      // Salesforce refuses 200 a call: what is shown between two calls counts the first ones alone.
      const refused = "SELECT count(*)::int AS refused FROM salesforce._trigger_log WHERE state = 'FAILED'";
      await vi.waitFor(async () => expect(await sql(refused)).toEqual([{ refused: 400 }]), NAMED);
    },
    mend: () => sql("UPDATE salesforce.contact SET email = NULL WHERE email = 'nowhere'"),
  },
  "a webhook is paused": {
    cause: "webhook_paused",
    make: async () => line.run(["webhook", "update", await webhookId(), "--pause"]),
    mend: async () => line.run(["webhook", "update", await webhookId(), "--resume"]),
  },
  "a webhook's receiver answers 500": {
    cause: "webhook_failing",
    make: () => answering(500),
    mend: () => answering(200),
  },
};

async function answering(status: number): Promise<void> {
  answers = status;
  await line.run(["webhook", "test", await webhookId()]);
}

interface Incident {
  readonly cause: string;
  readonly message: string;
  readonly remedy: string;
  readonly commands: readonly string[];
}

const incidents = async () => {
  const path = `/api/v1/t/${workspace.id}/health?incidents=true`;
  const { json } = await bridge.request("GET", path, { token: workspace.token });
  return (json?.data as { readonly incidents?: readonly Incident[] } | undefined)?.incidents ?? [];
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

async function expectNamed(name: string, { cause, row, event }: Fault): Promise<void> {
  const { message, remedy, commands } = await vi.waitFor(async () => {
    const [incident, ...others] = await incidents();
    expect([incident?.cause, others]).toEqual([cause, []]);
    return incident as Incident;
  }, NAMED);
  const health = await line.run(["health"]);
  const doctor = await line.run(["doctor"]);
  const shown = await line.run(["row", "Contact", name.includes("400") ? await lastKey() : "1"]);

  for (const { stdout } of [health, doctor]) {
    for (const said of [message, remedy]) expect(stdout).toContain(said);
    expect(commands).toContain(
      stdout
        .split("\n")
        .find((one) => commands.includes(one.trim()))
        ?.trim(),
    );
  }
  expect(doctor.stdout).toMatch(new RegExp(`^${cause === "webhook_paused" ? "!" : "✗"} `));
  expect(doctor.stdout.match(/^✗/gm) ?? [], doctor.stdout).toHaveLength(cause === "webhook_paused" ? 0 : 1);
  if (row) expect(shown.stdout + shown.stderr).toMatch(row);
  if (!event) return;
  const said = await vi.waitFor(() => {
    const found = received.find((one) => one.event === event);
    expect(received.map((one) => one.event)).toContain(event);
    return found;
  }, NAMED);
  if (event === "sync.broken") expect(said?.data).toMatchObject({ reason: cause, commands });
}
