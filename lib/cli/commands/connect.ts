import type { ReadConnectionsData, ReadWorkspaceData, SetPostgresData, TestPostgresData } from "bridge/api";
import { type Context, isSet, text } from "../context.ts";
import { ownMachine } from "../own-machine.ts";
import { readSecret } from "../secret.ts";

/** The findings of a connection's check. */
export type Checked = TestPostgresData;

/** A check's finding. Not `ok`: it does not work. `ok` with a remedy: it works, and should be read. */
export type Finding = Checked["findings"][number];

/** Connects the database; with `--test` only checks the one of `--url-file`, or without one the one that is connected. */
export async function connectPostgres(context: Context): Promise<void> {
  const dryRun = isSet(context, "test");
  if (dryRun && text(context, "urlFile") === null) {
    const { data } = await context.api().post<TestPostgresData>("/connections/postgres/test");
    return reportChecked(context, data);
  }
  const own = ownMachine(context)?.databaseUrl;
  const asked = own === undefined ? "Database URL" : "Database URL (empty: the database of this machine)";
  const url = await readSecret(context.terminal, asked, text(context, "urlFile"), own);
  const schema = text(context, "schema") ?? (url === own ? await ownSchema(context) : null);
  const body = {
    url,
    ...(schema === null ? {} : { schema }),
    ...(isSet(context, "takeOver") ? { take_over: true } : {}),
    ...(text(context, "schemaChanges") === null ? {} : { schema_changes: text(context, "schemaChanges") }),
  };
  const query = dryRun ? { dry_run: true } : {};
  const { data } = await context.api().put<SetPostgresData>("/connections/postgres", { body, query });
  reportChecked(context, data);
  if (data.ok && !dryRun) context.out.note("PostgreSQL is connected.");
}

/** Workspaces of one machine share its database, so each has a schema that is named like itself. */
async function ownSchema({ api, out }: Context): Promise<string> {
  const [{ data: workspace }, { data: connections }] = await Promise.all([
    api().get<ReadWorkspaceData>(""),
    api().get<ReadConnectionsData>("/connections"),
  ]);
  const named = workspace.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");
  const schema = connections.postgres?.schema ?? named;
  out.note(`Its tables are in the schema ${schema}; --schema names another.`);
  return schema;
}

/** Every finding, with what to do about the bad ones. */
export function reportChecked(context: Context, { ok, findings }: Checked): void {
  const { out } = context;
  if (out.json) out.record({ ok, findings });
  else {
    for (const { ok: isGood, message, remedy } of findings) {
      const mark = !isGood
        ? out.paint("red", "✗")
        : remedy === null
          ? out.paint("green", "✓")
          : out.paint("yellow", "!");
      out.done([`${mark} ${message}`, ...(remedy === null ? [] : [`    ${remedy}`])], null);
    }
  }
  if (!ok) context.endAs("unwell");
}

/** What is connected. */
export async function showConnections({ api, out }: Context): Promise<void> {
  const { data } = await api().get<ReadConnectionsData>("/connections");
  out.record({ ...data });
}
