import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pLimit from "p-limit";
import { Pool } from "pg";
import { createOrgUser } from "../../../support/clients/org-user.ts";
import { RunningInstance } from "../../../support/processes/instance.ts";
import { createTestWorkspace } from "../../../support/worlds/workspace.ts";
import { type Ask, bridgeAsk, orgAsk, queryAll } from "../../ask.ts";
import { connectionAs } from "../../connection-as.ts";
import { definitionOf, documentOf, HEAP_FIELDS, type Lane } from "./lanes.ts";
import { startObservedOrg } from "./observed-org.ts";

/** `npm start` beside an org that notes its commits; the lanes are mapped, and both sides hold the same. */
export type Stage = Awaited<ReturnType<typeof openStage>>;

const PATIENCE_MILLISECONDS = 180_000;

/** Looks twice a second until it is true. */
export async function until(what: string, look: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + PATIENCE_MILLISECONDS; !(await look().catch(() => false)); await pause(500))
    if (Date.now() > deadline) throw new Error(`${what}: not within three minutes`);
}

/** Once in a process, whose environment becomes that Bridge's. */
export async function openStage(lanes: readonly Lane[], say: (text: string) => void) {
  const { org, log } = await startObservedOrg(definitionOf(lanes));
  const bridge = new RunningInstance({ flags: ["--no-demo"], environment: { RATE_LIMIT_PER_MINUTE: "1000000" } });
  const ask = orgAsk(org.url, org.accessToken);
  const closers: (() => Promise<unknown>)[] = [() => org.close()];
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end();
  };
  try {
    const ids = new Map<string, readonly string[]>();
    for (const lane of lanes) ids.set(lane.object, await createRecords(ask, lane));
    say(`the org holds ${lanes.reduce((sum, { records }) => sum + records, 0)} records`);

    closers.push(() => bridge.destroy());
    await bridge.start();
    const { environment } = JSON.parse(readFileSync(join(bridge.dataDir, "operator.json"), "utf8"));
    Object.assign(process.env, environment); // workspaces are created as the operator creates them
    const user = await createOrgUser(org, "bridge");
    const workspace = await createTestWorkspace({
      postgres: { url: bridge.file.database_url, schema: "salesforce" },
      salesforce: connectionAs(org, user),
    });
    const api = bridgeAsk(bridge.file.base_url, workspace);
    await api("POST", "/config/import", documentOf(lanes));
    const database = new Pool({ connectionString: bridge.file.database_url, max: 8 });
    closers.push(() => database.end());
    await untilLoaded(database, lanes);
    say("every record is a row");

    return {
      log,
      /** Bridge's user in the org. */
      bridgeUserId: user.userId,
      /** The application's connections. */
      database,
      /** Ids of the records of a lane. */
      idsOf: ({ object }: Lane) => ids.get(object) ?? [],
      /** A colleague saves one record. */
      save: ({ object }: Lane, id: string, values: Readonly<Record<string, string>>) =>
        ask("PATCH", `/sobjects/${object}/${id}`, values),
      /** The values of the fields of all records of a lane, by id. */
      recordsOf: async ({ object }: Lane) => {
        const soql = `SELECT Id, ${HEAP_FIELDS.join(", ")} FROM ${object}`;
        const records = await queryAll<Readonly<Record<string, string | null>>>(ask, soql);
        return new Map(records.map((record) => [String(record["Id"]), record]));
      },
      /** The application says that it has committed changes. */
      nudge: ({ object: table }: Lane) => api("POST", "/nudge", { table }),
      /** Asks for a cycle that pulls, in each lane. */
      pollAll: async () => {
        const mappings = await api<{ readonly id: string }[]>("GET", "/mappings?limit=100");
        await pLimit(4).map(mappings, ({ id }) => api("POST", `/mappings/${id}/poll-now`));
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function createRecords(ask: Ask, { object, records }: Lane): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < records) {
    const some = Array.from({ length: Math.min(200, records - ids.length) }, (_, at) => ({
      attributes: { type: object },
      Name: `record ${ids.length + at}`,
      ...Object.fromEntries(HEAP_FIELDS.map((field) => [field, "before"])),
    }));
    const made = await ask<{ readonly id: string }[]>("POST", "/composite/sobjects", { records: some });
    ids.push(...made.map(({ id }) => id));
  }
  return ids;
}

const untilLoaded = (database: Pool, lanes: readonly Lane[]) =>
  until("the first loads have ended", async () => {
    const { rows } = await database.query("SELECT FROM salesforce._bridge_state WHERE position IS NOT NULL");
    return rows.length === lanes.length;
  });
