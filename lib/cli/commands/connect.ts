import { type Context, isSet, text } from "../context.ts";
import { readSecret } from "../secret.ts";

/** What a look found. Not `ok`: it does not work. `ok` with a remedy: it works, and is worth a look. */
export interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly message: string;
  readonly remedy: string | null;
}

/** What a look at a connection found. */
export interface Checked {
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}

/** Connects the database, or only looks whether it could be. */
export async function connectPostgres(context: Context): Promise<void> {
  const url = await readSecret(context.terminal, "Database URL", text(context, "urlFile"));
  const body = {
    url,
    ...(text(context, "schema") === null ? {} : { schema: text(context, "schema") }),
    ...(isSet(context, "takeOver") ? { take_over: true } : {}),
    ...(text(context, "schemaChanges") === null ? {} : { schema_changes: text(context, "schemaChanges") }),
  };
  const api = context.api();
  const { data } = isSet(context, "test")
    ? await api.post<Checked>("/connections/postgres/test", { body })
    : await api.put<Checked>("/connections/postgres", { body });
  tellChecked(context, data);
  if (data.ok && !isSet(context, "test")) context.out.note("PostgreSQL is connected.");
}

/** Every finding, with what to do about the bad ones. */
export function tellChecked(context: Context, { ok, findings }: Checked): void {
  const { out } = context;
  if (out.json) out.record({ ok, findings });
  else {
    for (const { ok: isGood, message, remedy } of findings) {
      const mark = !isGood
        ? out.paint("red", "✗")
        : remedy === null
          ? out.paint("green", "✓")
          : out.paint("yellow", "!");
      out.done(`${mark} ${message}${remedy === null ? "" : `\n    ${remedy}`}`, null);
    }
  }
  if (!ok) context.endAs("unwell");
}

/** What is connected. */
export async function showConnections({ api, out }: Context): Promise<void> {
  const { data } = await api().get<Readonly<Record<string, unknown>>>("/connections");
  out.record(data);
}
