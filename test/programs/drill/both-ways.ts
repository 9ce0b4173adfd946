import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { RunningInstance } from "../../support/processes/instance.ts";
import { entryOf } from "../../support/worlds/carry-out.ts";
import { createTestWorkspace } from "../../support/worlds/workspace.ts";
import { type Ask, bridgeAsk } from "../ask.ts";
import { ask, type Door, sweepUp } from "./door.ts";
import { connectionOf, newMark, versionOf } from "./engine.ts";
import type { Step } from "./smoke.ts";

const SCHEMA = "drill";

/** Far more than the one or two cycles that each step takes. */
const PATIENCE_MILLISECONDS = 300_000;
const LOOK_AGAIN_MILLISECONDS = 1000;

/** A workspace of a running instance that is connected to the org, and its mapping of Contact. */
interface Room {
  readonly bridge: RunningInstance;
  readonly door: Door;
  readonly mark: string;
  readonly version: string;
  readonly api: Ask;
}

/**
 * Keeps one mapping in step with the org, both ways, by a Bridge of its own; gives what went wrong, step by step. Once in
 * a process, whose environment becomes that Bridge's.
 */
export async function mapBothWays(door: Door): Promise<readonly Step[]> {
  const bridge = new RunningInstance({ flags: ["--no-demo"] });
  const steps: Step[] = [];
  try {
    await bridge.start();
    const room = await openRoom(bridge, door);
    for (const [name, work] of Object.entries(STEPS)) {
      const wrong = await work(room).then(
        () => null,
        (error: unknown) => String(error),
      );
      steps.push({ name, wrong });
      if (wrong !== null) break; // the next ones depend on it
    }
    return steps;
  } finally {
    await bridge.destroy();
    await sweepUp(door);
  }
}

async function openRoom(bridge: RunningInstance, door: Door): Promise<Room> {
  const { environment } = JSON.parse(readFileSync(join(bridge.dataDir, "operator.json"), "utf8"));
  Object.assign(process.env, environment); // workspaces are created as the operator creates them
  const version = await versionOf(door);
  const postgres = { url: bridge.file.database_url, schema: SCHEMA };
  const workspace = await createTestWorkspace({ postgres, salesforce: await connectionOf(door, version) });
  return { bridge, door, mark: newMark(), version, api: bridgeAsk(bridge.file.base_url, workspace) };
}

/** What happens, in order; each throws when it does not. */
const STEPS: Readonly<Record<string, (room: Room) => Promise<void>>> = {
  "a mapping of Contact is imported": async ({ api, mark }) => {
    const bridge = { filter: `LastName LIKE '${mark}%'`, conflict_policy: "salesforce_wins" };
    await api("POST", "/config/import", {
      version: 1,
      mappings: [entryOf({ object: "Contact", fields: FIELDS, bridge })],
    });
  },
  "its table is there and loaded": async (room) => {
    await until(room, async () => {
      const [mapping] = (await room.api("GET", "/monitoring/mappings")) as { readonly state: string }[];
      return mapping?.state === "running" ? null : `the mapping is ${JSON.stringify(mapping)}`;
    });
  },
  "a new row becomes a record": async (room) => {
    await sql(room, "INSERT INTO drill.contact (lastname, title, email) VALUES ($1, 'Dr', 'drill@example.com')", [
      `${room.mark} row`,
    ]);
    await until(room, () => recordIs(room, "row", { Title: "Dr", Email: "drill@example.com" }));
    await until(room, () => rowIs(room, "row", { _ab_lastop: "INSERTED", _ab_err: null }));
  },
  "a new record becomes a row": async (room) => {
    await save(room, "POST", "", { LastName: `${room.mark} record`, Title: "Dr" });
    await until(room, () => rowIs(room, "record", { title: "Dr", email: null }));
  },
  "a change of a row, a null among it, reaches its record": async (room) => {
    await sql(room, "UPDATE drill.contact SET title = 'Professor', email = NULL WHERE lastname = $1", [
      `${room.mark} row`,
    ]);
    await until(room, () => recordIs(room, "row", { Title: "Professor", Email: null }));
  },
  "a change of a record, a null among it, reaches its row": async (room) => {
    await save(room, "PATCH", `/${await idOf(room, "record")}`, { Title: null, Email: "record@example.com" });
    await until(room, () => rowIs(room, "record", { title: null, email: "record@example.com" }));
  },
  "a deleted row deletes its record": async (room) => {
    await sql(room, "DELETE FROM drill.contact WHERE lastname = $1", [`${room.mark} row`]);
    await until(room, () => recordIs(room, "row", null));
  },
  "a deleted record deletes its row": async (room) => {
    await save(room, "DELETE", `/${await idOf(room, "record")}`);
    await until(room, () => rowIs(room, "record", null));
  },
};

const FIELDS = ["Id", "IsDeleted", "SystemModstamp", "LastName", "Title", "Email"];

/** Asks for cycles until `lacking` says that nothing is lacking; throws with what still is when nothing moves any more. */
async function until(room: Room, lacking: () => Promise<string | null>): Promise<void> {
  const { api } = room;
  const end = Date.now() + PATIENCE_MILLISECONDS;
  for (;;) {
    const [mapping] = (await api("GET", "/mappings")) as { readonly id: string }[];
    await api("POST", `/mappings/${mapping?.id}/poll-now`).catch(() => undefined); // not while it is provisioned
    const failed = (await api("GET", "/monitoring/activity?state=FAILED")) as readonly unknown[];
    if (failed.length > 0) {
      const rows = await sql(room, "SELECT lastname, _ab_err FROM drill.contact WHERE _ab_err IS NOT NULL");
      throw new Error(`changes have failed: ${JSON.stringify({ failed, rows })}`);
    }
    const lacks = await lacking();
    if (lacks === null) return;
    if (Date.now() > end) throw new Error(`${lacks}, after ${PATIENCE_MILLISECONDS / 1000} s`);
    await pause(LOOK_AGAIN_MILLISECONDS);
  }
}

type Values = Readonly<Record<string, unknown>>;

/** What keeps the row of this name from being like this; null asks that there is none. */
async function rowIs(room: Room, name: string, wanted: Values | null): Promise<string | null> {
  const [row] = await sql(room, "SELECT * FROM drill.contact WHERE lastname = $1", [`${room.mark} ${name}`]);
  return isLike(row, wanted) ? null : `the row is ${JSON.stringify(row)}`;
}

async function recordIs(room: Room, name: string, wanted: Values | null): Promise<string | null> {
  const [record] = await recordsOf(room, name);
  return isLike(record, wanted) ? null : `the record is ${JSON.stringify(record)}`;
}

function isLike(found: Values | undefined, wanted: Values | null): boolean {
  if (wanted === null || found === undefined) return wanted === null && found === undefined;
  return Object.entries(wanted).every(([key, value]) => found[key] === value);
}

const sql = ({ bridge }: Room, text: string, values: readonly unknown[] = []): Promise<Values[]> =>
  bridge.sql(text, values);

async function recordsOf({ door, mark, version }: Room, name: string): Promise<readonly Values[]> {
  const soql = `SELECT Id, LastName, Title, Email FROM Contact WHERE LastName = '${mark} ${name}'`;
  const path = `/services/data/v${version}/query?q=${encodeURIComponent(soql)}`;
  const { status, body } = await ask(door, { method: "GET", path });
  if (status !== 200) throw new Error(`${soql} answered ${status}: ${JSON.stringify(body)}`);
  return (body as { readonly records: readonly Values[] }).records;
}

const idOf = async (room: Room, name: string): Promise<string> => String((await recordsOf(room, name))[0]?.["Id"]);

async function save({ door, version }: Room, method: string, at: string, body?: Values): Promise<void> {
  const path = `/services/data/v${version}/sobjects/Contact${at}`;
  const answer = await ask(door, { method, path, body });
  if (Number(answer.status) >= 300) throw new Error(`${method} ${path} answered ${JSON.stringify(answer)}`);
}
