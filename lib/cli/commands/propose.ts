import type { ChangePostgresData, ListProposalsData } from "bridge/api";
import { argument, type Context, text } from "../context.ts";
import { drizzleCode, writeDrizzleMigration } from "../drizzle.ts";

/** Says who changes the mapped tables. */
export async function changeSchemaChanges(context: Context): Promise<void> {
  const body = { schema_changes: argument(context, 0) };
  const { data } = await context.api().patch<ChangePostgresData>("/connections/postgres", { body });
  context.out.done(
    body.schema_changes === "propose"
      ? "The application changes its tables itself from now on; bridge schema propose prints the missing migration."
      : "Bridge creates and alters mapped tables itself from now on.",
    data,
  );
}

/** Says how many connections Bridge opens to the database. */
export async function changeMaxConnections(context: Context): Promise<void> {
  const most = Number(argument(context, 0));
  const { data } = await context
    .api()
    .patch<ChangePostgresData>("/connections/postgres", { body: { max_connections: most } });
  context.out.done(`Bridge opens ${most} connections to the database at most from now on.`, data);
}

/** Prints what the mapped tables need as SQL; with `--drizzle` also as the next migration of that ORM. */
export async function propose(context: Context): Promise<void> {
  const { api, out } = context;
  const { data } = await api().get<ListProposalsData>("/connections/postgres/proposals");
  const folder = text(context, "drizzle");
  const file = folder === null || data.length === 0 ? null : writeDrizzleMigration(folder, data, new Date());
  if (out.json) return out.record({ proposals: data, ...(folder !== null && { file }) });
  if (data.length === 0) return out.note("The mapped tables need no migration.");
  if (folder === null) return out.text(data.flatMap(({ sql }) => sql.map((statement) => `${statement};\n`)).join(""));
  out.text(`${data.map(drizzleCode).join("\n\n")}\n`);
  out.note(
    file === null
      ? `The migrations in ${folder} hold this already: run them. The columns as code are above.`
      : `${file} is written: add the lines above to the code of your schema, then run drizzle-kit migrate.`,
  );
}
