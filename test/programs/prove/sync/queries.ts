import { setTimeout as pause } from "node:timers/promises";
import { request } from "../../ask.ts";
import { queryOnce } from "./query-once.ts";
import type { Stage } from "./stage/stage.ts";

/** Where the proof itself looks and waits. */
export type Queries = ReturnType<typeof createQueries>;

const PATIENCE_MILLISECONDS = 180_000;
const ASK_AGAIN_MILLISECONDS = 4_000;

/** More than one answer of the Bulk API, a page of a pull and a claim together. */
const MOST_WAITING = 6_000;
const COUNT_AGAIN_MILLISECONDS = 1_000;

/** By how much time advances with each poll, five a second, while nothing moves: for what comes again after minutes. */
const LOOK_SECONDS = 5;

/** Nothing has moved for so long: what comes next waits for time. A busy machine moves slowly, and keeps its leases. */
const STILL_MILLISECONDS = 5_000;

export function createQueries(stage: Stage) {
  let counted = { at: 0, isBehind: Promise.resolve(false) };
  const query = <R = Readonly<Record<string, unknown>>>(text: string) => queryOnce<R>(stage.databaseUrl, text);
  /** `rests` is called when nothing has moved for a while. */
  const until = async (what: string, look: () => Promise<string | null>, rests?: () => void) => {
    const began = Date.now();
    let [seen, changedAt] = ["", began];
    for (let missing = await look().catch(String); missing !== null; missing = await look().catch(String)) {
      const now = Date.now();
      if (missing !== seen) [seen, changedAt] = [missing, now];
      if (now - changedAt > PATIENCE_MILLISECONDS || now - began > 5 * PATIENCE_MILLISECONDS)
        throw new Error(`waited in vain until ${what}: ${missing}`);
      if (now - changedAt > STILL_MILLISECONDS) rests?.();
      await pause(200);
    }
  };
  const letTimePass = () => stage.clock.advance(LOOK_SECONDS);

  return {
    query,
    /** A control of the org. */
    control: (method: string, path: string, body?: object) =>
      request(`${stage.org.url}/_sim${path}`, stage.org.accessToken, method, body),
    /** Ids of the mappings by their objects. */
    mappingIds: async (): Promise<ReadonlyMap<string, string>> => {
      const mappings = (await stage.api("GET", "/mappings?include=inactive")) as { id: string; sf_object: string }[];
      return new Map(mappings.map(({ id, sf_object }) => [sf_object, id]));
    },
    /** `lost`: time advances meanwhile, for the message of a load that was killed comes again after minutes. */
    untilLoaded: (mappings: number, lost?: "lost") => {
      const loaded = async () => {
        const rows = await query(
          `SELECT mapping_id, s.position IS NOT NULL AND l.load IS NULL AS ended, l.fence, l.load
           FROM salesforce._bridge_state s JOIN salesforce._bridge_loads l USING (mapping_id) ORDER BY mapping_id`,
        );
        const ended = rows.filter((row) => row["ended"] === true).length;
        return ended === mappings ? null : `${ended} of ${mappings}: ${JSON.stringify(rows)}`;
      };
      return until("all mappings are loaded", loaded, lost && letTimePass);
    },
    /** Every mapping runs a cycle from beginning to end. Time advances when nothing moves: work that was killed comes again. */
    cycles: async (ids: ReadonlyMap<string, string>) => {
      const since = new Date(stage.clock.now()).toISOString();
      let askedAt = 0;
      const ran = async () => {
        const rows = await query(
          `SELECT mapping_id, last_run_at, fence, lease_owner, lease_until, last_error FROM salesforce._bridge_state
           WHERE last_run_at IS NULL OR last_run_at <= '${since}' OR last_error IS NOT NULL ORDER BY mapping_id`,
        );
        if (rows.length === 0) return null;
        if (Date.now() - askedAt > ASK_AGAIN_MILLISECONDS) {
          askedAt = Date.now();
          const late = new Set(rows.map((row) => row["mapping_id"]));
          for (const id of ids.values()) {
            if (late.has(id))
              stage.send("cycles", { workspace_id: stage.workspaceId, mapping_id: id, kind: "poll", slot: null });
          }
        }
        return JSON.stringify(rows);
      };
      await until("every mapping has run a cycle", ran, letTimePass);
    },
    /** No change waits, and no event. */
    untilNothingWaits: () =>
      until("nothing waits", async () => {
        const rows = await query(`
          SELECT id::text, state, action, sf_message FROM salesforce._trigger_log WHERE processed_at IS NULL
          UNION ALL SELECT id::text, 'outbox', event, NULL FROM salesforce._bridge_outbox`);
        return rows.length === 0 ? null : JSON.stringify(rows.slice(0, 5));
      }).catch((error: unknown) => console.error(String(error))),
    /** So many changes wait that users pause: the machine is slower than they are, and more of the same proves no more. */
    isBehind: () => {
      if (Date.now() - counted.at < COUNT_AGAIN_MILLISECONDS) return counted.isBehind;
      const waiting = `SELECT FROM salesforce._trigger_log WHERE processed_at IS NULL OFFSET ${MOST_WAITING} LIMIT 1`;
      const isBehind = query(waiting).then(
        ({ length }) => length > 0,
        () => false,
      );
      counted = { at: Date.now(), isBehind };
      return isBehind;
    },
  };
}
