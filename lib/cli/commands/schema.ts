import type { ReadConnectionsData } from "bridge/api";
import type { Context } from "../context.ts";
import { CommandFailure } from "../failure.ts";

/** The options by which pg_dump leaves out the rows of Bridge's own tables, ready to paste. */
export async function excludeFromDump(context: Context): Promise<void> {
  const schema = await connectedSchema(context);
  const options = ["_bridge_*", "_trigger_log*"].map((tables) => `--exclude-table-data='${schema}.${tables}'`);
  context.out.done(options.join(" "), { schema, options });
}

/** The statement that takes Bridge's triggers and functions out of a full copy. Nothing is done here. */
export async function detachCopy(context: Context): Promise<void> {
  const schema = await connectedSchema(context);
  const statement = `SELECT "${schema}"._bridge_detach();`;
  context.out.done(statement, { schema, statement });
  context.out.note("Run this in the copy, as the owner of its tables. In the original it ends the sync.");
}

/** The schema of the mapped tables. */
export async function connectedSchema({ api }: Pick<Context, "api">): Promise<string> {
  const { data } = await api().get<ReadConnectionsData>("/connections");
  if (data.postgres === null) {
    throw new CommandFailure("conflict", "no database is connected; connect one with: bridge connect postgres");
  }
  return data.postgres.schema;
}
