import { plantShadows } from "../../support/doubles/shadows.ts";
import { cycle, type Part } from "./world.ts";

const READS = ["/health", "/monitoring/activity", "/monitoring/errors", "/monitoring/changes", "/mappings", "/metrics"];

/** Operators, functions and types that a role which may create in `public` has made: none is called by cycles and requests. */
export const shadows: Part = async (world) => {
  const { bridge, sql, ask } = world;
  const planted = await plantShadows(bridge.database.superuserUrl);
  const findings: string[] = [];
  const step = async (what: string, work: () => Promise<unknown>) => {
    const before = await planted.called();
    await work().catch(() => undefined);
    const calls = (await planted.called()) - before;
    if (calls > 0) findings.push(`${what}: ${calls} calls of what another role has made in public`);
  };
  try {
    const before = await planted.called();
    const [made] = await sql<{ id: number }>(
      "INSERT INTO salesforce.contact (lastname, email) VALUES ('Shadowed', NULL), (NULL, 'none') RETURNING id::int",
    );
    await step("a cycle with a row and a refused one", () => cycle(world));
    const [row] = await sql<{ sfid: string | null }>("SELECT sfid FROM salesforce.contact WHERE id = $1", [made?.id]);
    if (!row?.sfid && (await planted.called()) === before)
      findings.push("the cycle has not sent a row, so it tried nothing");
    await step("a second cycle", () => cycle(world));
    for (const path of READS) await step(path, () => ask("GET", path));
    await step("the check of the connection", () => ask("POST", "/connections/postgres/test"));
  } finally {
    await planted.remove();
  }
  return { tried: planted.made, findings };
};

/** Each of Bridge's tables with each write that a cycle does, undone by a trigger of its owner's. */
const UNDONE = [
  ["_bridge_outbox", "DELETE"],
  ["_bridge_outbox", "INSERT"],
  ["_trigger_log", "UPDATE"],
  ["_trigger_log", "DELETE"],
  ["_bridge_state", "UPDATE"],
  ["_bridge_loads", "UPDATE"],
  ["_bridge_in_hand", "INSERT"],
  ["_bridge_in_hand", "DELETE"],
  ["_bridge_totals", "UPDATE"],
  ["_bridge_pushed", "INSERT"],
  ["_bridge_history", "INSERT"],
  ["_bridge_held_deletes", "INSERT"],
  ["_bridge_inbound_errors", "INSERT"],
] as const;

/** Writes of one kind that a cycle needs at most for a few changes. */
const MOST = 60;

/** Triggers by which no write of Bridge's takes place: no cycle tries the same without an end. */
export const loops: Part = async (world) => {
  const { sql } = world;
  const findings: string[] = [];
  for (const [table, operation] of UNDONE) {
    await sql(`CREATE SEQUENCE public.undone; CREATE FUNCTION public.undo() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM nextval('public.undone'); RETURN NULL; END $$`);
    await sql("INSERT INTO salesforce.contact (lastname, email) VALUES ('Good', NULL), (NULL, 'none')");
    await sql(
      `CREATE TRIGGER undo BEFORE ${operation} ON salesforce.${table} FOR EACH ROW EXECUTE FUNCTION public.undo()`,
    );
    await Promise.race([cycle(world), new Promise((resolve) => setTimeout(resolve, 20_000))]);
    const [tried] = await sql<{ times: number }>("SELECT last_value::int AS times FROM public.undone");
    if ((tried?.times ?? 0) > MOST) findings.push(`${operation} on ${table} was tried ${tried?.times} times`);
    await sql("DROP FUNCTION public.undo() CASCADE; DROP SEQUENCE public.undone");
  }
  return { tried: UNDONE.length, findings };
};
