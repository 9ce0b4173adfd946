import { setTimeout as pause } from "node:timers/promises";
import type { Dice } from "../../../support/doubles/dice.ts";
import { type Application, triggersOf } from "./application.ts";
import type { Evidence } from "./judge/evidence.ts";
import type { Proved } from "./mapped-objects.ts";
import { queryOnce } from "./query-once.ts";
import type { Stage } from "./stage/stage.ts";

/** The application's own team, whose migrations Bridge has to live with. */
export type Migrator = ReturnType<typeof hireMigrator>;

const KINDS = ["column renamed and back", "table swapped", "capture off", "rows hidden"] as const;

interface Settings {
  readonly stage: Pick<Stage, "api" | "databaseUrl">;
  readonly application: Pick<Application, "onlyUpdate">;
  readonly mappings: readonly Proved[];
}

/** So long a migration waits for its table; its writer may have been stopped by the proof. */
const LOCK = "SET LOCAL lock_timeout = '5s'";

/** A provisioning that was killed comes again after minutes; the minute sweep asks for it as well. */
const LONGEST_MILLISECONDS = 90_000;
const ASK_AGAIN_MILLISECONDS = 20_000;

export function hireMigrator({ stage, application, mappings }: Settings) {
  /** Times in which nothing captured what the application did to a table. */
  const uncaptured: Evidence["uncaptured"][number][] = [];
  /** The kinds of what was done. */
  const done: (typeof KINDS)[number][] = [];
  /** Tables that are being migrated: a team does one thing at a time to each. */
  const busy = new Set<string>();
  const query = <R>(text: string) => queryOnce<R>(stage.databaseUrl, text, "migrator");
  /** PostgreSQL may be killed before a migration, or before its answer: what undoes it is done in any case. */
  const migrate = (change: string) => query(`BEGIN; ${LOCK}; ${change}; COMMIT`).catch(() => undefined);
  /** PostgreSQL may be killed at any time, and a lock may not be had. */
  const until = async (what: string, attempt: () => Promise<unknown>) => {
    const latest = Date.now() + LONGEST_MILLISECONDS;
    while (!(await attempt().catch(() => false))) {
      if (Date.now() > latest) throw new Error(`waited in vain until ${what}`);
      await pause(500);
    }
  };
  const capturing = async (table: string) => {
    const [row] = await query<{ readonly triggers: string }>(
      `SELECT string_agg(tgname, ', ' ORDER BY tgname) AS triggers FROM pg_trigger
       WHERE tgrelid = 'salesforce.${table}'::regclass AND NOT tgisinternal AND tgenabled <> 'D' AND NOT starts_with(tgname, 'proof_')`,
    );
    return row?.triggers;
  };

  /** A change of a table, and soon what undoes it. */
  const forAWhile = async (dice: Dice, table: string, change: string, back: string) => {
    await migrate(change);
    await pause(1_000 + dice.below(5_000));
    await until(`${table} is as it was`, () => query(`BEGIN; ${LOCK}; ${back}; COMMIT`));
  };

  const withoutCapture = async (dice: Dice, proved: Proved, id: string, change: string, isOver: () => boolean) => {
    const { table, policy } = proved;
    const before = await capturing(table);
    const release = await application.onlyUpdate(table);
    const from = Date.now();
    try {
      await migrate(change);
      await pause(1_000 + dice.below(5_000));
      for (const trigger of ["proof_sees", "proof_then_nests"])
        await query(`ALTER TABLE salesforce."${table}" ENABLE TRIGGER ${trigger}`).catch(() => undefined);
      let askedAt = 0;
      await until(`${table} is captured`, async () => {
        if (Date.now() - askedAt > ASK_AGAIN_MILLISECONDS) {
          // Whose values win: where Salesforce's win anyway, the rows may go to it.
          const choice = policy === "salesforce_wins" ? "mine" : "salesforce";
          await stage.api("POST", `/mappings/${id}/capture`, { uncaptured: choice });
          askedAt = Date.now();
        }
        return isOver() || (await capturing(table)) === before;
      });
    } finally {
      uncaptured.push({ table, from, until: Date.now() });
      release();
    }
  };

  return {
    uncaptured,
    done,
    /**
     * One migration of a table, and what undoes it; resolves when changes of the table are captured again, or `isOver`:
     * then what has been asked for is left to come.
     */
    act: async (dice: Dice, mappingIds: ReadonlyMap<string, string>, isOver: () => boolean) => {
      const [mapping, kind] = [dice.pick(mappings.filter(({ table }) => !busy.has(table))), dice.pick(KINDS)];
      const id = mapping && mappingIds.get(mapping.object);
      if (!mapping || !kind || id === undefined) return;
      done.push(kind);
      busy.add(mapping.table);
      try {
        if (kind === "column renamed and back") await forAWhile(dice, mapping.table, ...renamed(mapping));
        else if (kind === "rows hidden") await forAWhile(dice, mapping.table, ...hidden(mapping));
        else await withoutCapture(dice, mapping, id, kind === "table swapped" ? swap(mapping) : off(mapping), isOver);
      } finally {
        busy.delete(mapping.table);
      }
    },
  };
}

/** Statements on the column fail meanwhile, as they would without Bridge; all others must not. */
const renamed = ({ table }: Proved) =>
  [
    `ALTER TABLE salesforce."${table}" RENAME COLUMN here__c TO was_here__c`,
    `DO $$ BEGIN
      IF EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'salesforce.${table}'::regclass AND attname = 'was_here__c')
      THEN ALTER TABLE salesforce."${table}" RENAME COLUMN was_here__c TO here__c; END IF; END $$`,
  ] as const;

/** A policy that shows no row to Bridge, and all to the application. */
const hidden = ({ table }: Proved) =>
  [
    `CREATE POLICY proof_hides ON salesforce."${table}" USING (current_setting('application_name') <> 'bridge');
      ALTER TABLE salesforce."${table}" ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY`,
    `ALTER TABLE salesforce."${table}" DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY;
      DROP POLICY IF EXISTS proof_hides ON salesforce."${table}"`,
  ] as const;

const off = ({ table }: Proved) => `ALTER TABLE salesforce."${table}" DISABLE TRIGGER USER`;

/** The table is built again beside itself and takes its own name, as tools do that change large tables. */
const swap = ({ table, nests }: Proved) => `LOCK TABLE salesforce."${table}";
  CREATE TABLE salesforce.${table}_anew (LIKE salesforce."${table}" INCLUDING ALL);
  INSERT INTO salesforce.${table}_anew SELECT * FROM salesforce."${table}";
  DO $$ BEGIN
    EXECUTE format('ALTER SEQUENCE %s OWNED BY salesforce.${table}_anew.id', pg_get_serial_sequence('salesforce.${table}', 'id'));
  END $$;
  DROP TABLE salesforce."${table}";
  ALTER TABLE salesforce.${table}_anew RENAME TO "${table}";
  ${triggersOf({ table, nests })}`;
