import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import type { InstanceFile } from "../instance-file.ts";
import type { Org } from "../org/start-org.ts";
import { DEMO_CONFIGURATION, DEMO_KEY_DEFAULTS } from "./demo-configuration.ts";
import { allowWriter } from "./demo-writer.ts";
import { fillDatabase, fillOrg } from "./sample-data.ts";

interface Needs {
  readonly dataDir: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly postgres: { readonly url: string };
  readonly org: Org;
  /** What the last start wrote; `isBegun` when it did not come to the end of the demo. */
  readonly before: (InstanceFile & { readonly isBegun: boolean }) | null;
  /** Receives a new workspace before anything is created in it. */
  readonly onBegun: (demo: Demo) => void;
  readonly baseUrl: string;
  /** Fill both sides of a new demo with sample data, and let its writer begin. */
  readonly isLive: boolean;
  readonly progress: (step: string) => void;
}

/** The demo workspace and its first token. */
export interface Demo {
  readonly workspaceId: string;
  readonly token: string;
}

const OWNER = "demo@example.com";
const PATIENCE_MILLISECONDS = 60_000;

/** The demo workspace of the last start, or a new one: both sides connected, Contact and Account mapped and provisioned. */
export async function openDemo(needs: Needs): Promise<Demo> {
  const { before, postgres } = needs;
  const known = knownDemo(before);
  if (before && known) refuseOtherDatabase(before.database_url, postgres.url);
  if (known && !before?.isBegun) {
    await api(needs, known, "GET", "/mappings");
    return known;
  }
  Object.assign(process.env, needs.environment);
  if (!before) await refuseLostFile(needs);
  const demo = known ?? (await createDemo(needs));
  needs.onBegun(demo);
  needs.progress("demo workspace");
  if (known) await makeAgain(needs, demo);
  if (needs.isLive) await fillOrg(needs.org);
  await api(needs, demo, "POST", "/config/import", DEMO_CONFIGURATION);
  await tablesAreReady(needs, demo);
  needs.progress("demo mappings: Account and Contact");
  if (needs.isLive) {
    await withDatabase(postgres.url, fillDatabase);
    allowWriter(needs.dataDir);
    needs.progress("sample data: 200 accounts and contacts");
  }
  return demo;
}

/** Whether the demo's workspace is connected to what this instance brought: nothing else is ever written to. */
export async function isConnectedTo(needs: Pick<Needs, "baseUrl" | "postgres" | "org">, demo: Demo): Promise<boolean> {
  const { data } = (await api(needs, demo, "GET", "/connections")) as ConnectionsAnswer;
  const { postgres, salesforce } = data;
  return (
    salesforce?.instance_url === needs.org.url &&
    postgres?.schema === "salesforce" &&
    `${postgres.host}:${postgres.port}/${postgres.database}` === placeOf(needs.postgres.url)
  );
}

/** What is read of the answer. */
interface ConnectionsAnswer {
  readonly data: {
    readonly postgres: {
      readonly host: string;
      readonly port: number;
      readonly database: string;
      readonly schema: string;
    } | null;
    readonly salesforce: { readonly instance_url: string } | null;
  };
}

/** The demo workspace that an earlier start wrote down. */
export function knownDemo(before: InstanceFile | null): Demo | null {
  return before?.workspace_id && before.api_token
    ? { workspaceId: before.workspace_id, token: before.api_token }
    : null;
}

/** A workspace that no instance.json knows may have the demo's tables, and its token is lost: a second one fails. */
async function refuseLostFile({ dataDir }: Needs): Promise<void> {
  const { mappings, workspaces } = await import("../../../functions/services/composition.ts");
  for (const { id } of await workspaces().list()) {
    const { mappings: all } = await mappings().list(id);
    if (all.length === 0) continue; // cut off before it was reported, it has no tables yet
    throw new Error(
      `${dataDir} holds the workspace ${id}, but no instance.json, which had its token: ` +
        "restore that file from a copy, choose another --data-dir, or start with --no-demo",
    );
  }
}

/** The demo's tables lie in one database, which its connection names; in another one nothing would ever arrive. */
function refuseOtherDatabase(before: string, now: string): void {
  const [made, given] = [placeOf(before), placeOf(now)];
  if (made === given) return;
  throw new Error(
    `the demo of this data folder has its tables in ${made}, not in ${given}: ` +
      "start with the database that it has, or choose another --data-dir",
  );
}

/** Where a database is, without who may enter. */
function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}:${port || 5432}${pathname}`;
}

async function createDemo({ postgres, org }: Needs): Promise<Demo> {
  const { now, pepper, tokens, workspaces } = await import("../../../functions/services/composition.ts");
  const { createWorkspace } = await import("../../access/bootstrap.ts");
  const { workspace, token } = await createWorkspace(
    { workspaces: workspaces(), tokens: tokens(), pepper: pepper() },
    {
      name: "demo",
      ownerEmail: OWNER,
      postgres: { url: postgres.url, schema: "salesforce" },
      salesforce: {
        loginUrl: org.url,
        instanceUrl: org.url,
        organizationId: org.organizationId,
        userId: org.userId,
        formerUserIds: [],
        apiVersion: "68.0",
        credentials: {
          kind: "password",
          clientId: org.clientId,
          clientSecret: org.clientSecret,
          username: org.username,
          password: org.password,
        },
        accessToken: null,
      },
      at: now(),
    },
  );
  return { workspaceId: workspace.id, token };
}

/**
 * A worker that was cut off while it created a table, or was about to start its mapping, has its message for minutes
 * yet; a new version has a new one.
 */
async function makeAgain(needs: Needs, demo: Demo): Promise<void> {
  const { mappings } = await import("../../../functions/services/composition.ts");
  const { mappings: all } = await mappings().list(demo.workspaceId);
  for (const { id } of all) {
    await api(needs, demo, "POST", `/mappings/${id}/deactivate`);
    await api(needs, demo, "POST", `/mappings/${id}/activate`);
  }
}

/** Waits until both tables take rows; says why when one can't. */
async function tablesAreReady({ postgres }: Needs, { workspaceId }: Demo): Promise<void> {
  const { mappings } = await import("../../../functions/services/composition.ts");
  const deadline = Date.now() + PATIENCE_MILLISECONDS;
  for (;;) {
    const { mappings: all } = await mappings().list(workspaceId);
    const failed = all.find(({ provisioning }) => provisioning.state === "failed");
    if (failed?.provisioning.state === "failed") {
      throw new Error(`the table ${failed.pgTable} could not be created: ${failed.provisioning.reason}`);
    }
    if (all.length > 0 && all.every(({ provisioning }) => provisioning.state === "ready")) break;
    if (Date.now() > deadline)
      throw new Error("the demo's tables were not made within a minute: look at the log above");
    await pause(50);
  }
  await withDatabase(postgres.url, (client) => client.query(DEMO_KEY_DEFAULTS));
}

async function withDatabase(url: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** A request with the demo's own token, as any client sends it. */
async function api(
  { baseUrl }: Pick<Needs, "baseUrl">,
  demo: Demo,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const answer = await fetch(`${baseUrl}/api/v1/t/${demo.workspaceId}${path}`, {
    method,
    headers: { authorization: `Bearer ${demo.token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const said = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${said}`);
  return said === "" ? null : JSON.parse(said);
}
