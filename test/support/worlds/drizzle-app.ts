import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateDrizzleJson, generateMigration, pushSchema } from "drizzle-kit/api";
import { drizzle } from "drizzle-orm/node-postgres";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import * as orm from "drizzle-orm/pg-core";
import { Pool } from "pg";
import { vi } from "vitest";

/** A table as the code of a Drizzle schema has it, line by line. */
export interface TableCode {
  readonly columns: readonly string[];
  readonly indexes: readonly string[];
}

export type SchemaCode = Readonly<Record<string, TableCode>>;

/**
 * An application whose tables in the schema `salesforce` belong to Drizzle, with its empty folder of migrations; its tables
 * come with the first.
 */
export async function createDrizzleApp(url: string, first: SchemaCode) {
  const folder = mkdtempSync(join(tmpdir(), "bridge-drizzle-"));
  const meta = join(folder, "meta");
  mkdirSync(meta);
  const client = new Pool({ connectionString: url, max: 2 });
  const db = drizzle({ client });
  const journalFile = join(meta, "_journal.json");
  const save = (file: string, value: unknown) => writeFileSync(file, JSON.stringify(value, null, 2));
  const journal = () => JSON.parse(readFileSync(journalFile, "utf8")) as Journal;
  save(journalFile, { version: "7", dialect: "postgresql", entries: [] });

  const last = async () => {
    const prefix = journal().entries.at(-1)?.tag.slice(0, 4);
    if (prefix === undefined) return generateDrizzleJson({});
    return JSON.parse(readFileSync(join(meta, `${prefix}_snapshot.json`), "utf8")) as Snapshot;
  };
  const current = async () => generateDrizzleJson(await tablesOf(app.code), (await last()).id);

  const app = {
    folder,
    /** What its code says the tables are. */
    code: first,
    /** What `drizzle-kit generate` would write for the code as it is. */
    generate: async (): Promise<readonly string[]> => generateMigration(await last(), await current()),
    /** Writes the next migration, generated, or with these statements, as after `drizzle-kit generate --custom`. */
    write: async (name: string, statements?: readonly string[]) => {
      const sql = statements ?? (await app.generate());
      const { version, dialect, entries } = journal();
      const idx = entries.length;
      const prefix = String(idx).padStart(4, "0");
      const when = (entries.at(-1)?.when ?? 0) + 1;
      save(join(meta, `${prefix}_snapshot.json`), await current());
      writeFileSync(join(folder, `${prefix}_${name}.sql`), sql.join("\n--> statement-breakpoint\n"));
      const entry = { idx, version, when, tag: `${prefix}_${name}`, breakpoints: true };
      save(journalFile, { version, dialect, entries: [...entries, entry] });
    },
    /** Runs the migrations that the database has not seen, as `drizzle-kit migrate`. */
    migrate: () => migrate(db, { migrationsFolder: folder }),
    /** What `drizzle-kit push` would change in the database, sequences of tables that it must leave alone aside. */
    drift: async (): Promise<readonly string[]> => {
      const tables = ["!_bridge_*", "!_trigger_log*"];
      // It shows its progress on the terminal.
      const terminal = vi.spyOn(process.stdout, "write").mockReturnValue(true);
      const { statementsToExecute } = await pushSchema(await tablesOf(app.code), db, ["salesforce"], tables).finally(
        () => terminal.mockRestore(),
      );
      return statementsToExecute.filter((statement) => !/^DROP SEQUENCE "salesforce"\."_/.test(statement));
    },
    close: async () => {
      await client.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return app;
}

type Snapshot = ReturnType<typeof generateDrizzleJson>;

interface Journal {
  readonly version: string;
  readonly dialect: string;
  readonly entries: readonly { readonly when: number; readonly tag: string }[];
}

/** The tables that a schema's code describes. */
async function tablesOf(code: SchemaCode): Promise<Record<string, unknown>> {
  const tables = Object.entries(code).map(
    ([name, { columns, indexes }]) =>
      `${name}: salesforce.table(${JSON.stringify(name)}, {\n${columns.join("\n")}\n}, (table) => [\n${indexes.join("\n")}\n]),`,
  );
  const source = `export default ({ ${NAMES.join(", ")} }) => {
    const salesforce = pgSchema("salesforce");
    return { salesforce,\n${tables.join("\n")}\n };
  };`;
  const url = `data:text/javascript,${encodeURIComponent(source)}`;
  const { default: tablesBy } = (await import(/* @vite-ignore */ url)) as {
    readonly default: (names: typeof orm) => Record<string, unknown>;
  };
  return tablesBy(orm);
}

const NAMES =
  "bigint bigserial boolean date index integer numeric pgSchema text time timestamp uniqueIndex varchar".split(" ");
