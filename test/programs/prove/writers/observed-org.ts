import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Queries } from "../../../../lib/local/org/soql/query.ts";
import { startOrg } from "../../../../lib/local/org/start-org.ts";
import { Records } from "../../../../lib/local/org/store/records.ts";

/** A save of one record as the org committed it. Its number orders it among all saves and answers. */
export interface Save {
  readonly order: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly userId: string;
  readonly stamp: Date;
  readonly values: Readonly<Record<string, unknown>>;
}

/** A query whose answer shows a record if it has changed: those that it names, or all that changed since a time. */
export interface Reading {
  readonly order: number;
  readonly at: number;
  /** Null: whichever has changed. */
  readonly ids: ReadonlySet<string> | null;
}

/** What one cycle asks for all mappings, to know which of them to pull: another one may be between its check and its save. */
const STAMPS_ALONE = /^SELECT Id, SystemModstamp FROM/;

/**
 * Starts an org in this process that notes in which order it commits saves and answers queries: it does both at once, one
 * after the other. Once in a process.
 */
export async function startObservedOrg(definition: object) {
  const saves = new Map<string, Save[]>();
  const readings = new Map<string, Reading[]>();
  let order = 0;
  const next = () => ({ order: ++order, at: performance.timeOrigin + performance.now() });

  const { update } = Records.prototype;
  Records.prototype.update = function (object, id, changes) {
    update.call(this, object, id, changes);
    const stamp = new Date(String(changes["SystemModstamp"]));
    const save = { ...next(), userId: String(changes["LastModifiedById"]), stamp, values: changes };
    saves.set(id, [...(saves.get(id) ?? []), save]);
  };
  const { first } = Queries.prototype;
  Queries.prototype.first = function (soql, how) {
    const page = first.call(this, soql, how);
    const { object } = page.plan;
    const seen = readings.get(object.name) ?? [];
    readings.set(object.name, seen);
    if (/ WHERE .*\bId IN \(/.test(soql)) {
      const ids = new Set(page.records.map((record) => String(record["Id"])));
      seen.push({ ...next(), ids });
    } else if (/SystemModstamp >/.test(soql) && !/SystemModstamp </.test(soql) && !STAMPS_ALONE.test(soql))
      seen.push({ ...next(), ids: null });
    return page;
  };

  const dataDir = mkdtempSync(join(tmpdir(), "bridge-writers-org-"));
  const org = await startOrg({ dataDir, definition: definition as never, dailyApiRequests: 100_000_000 });
  const close = async () => {
    await org.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return {
    org: { ...org, close },
    log: {
      /** Saves of a record, in their order. */
      savesOf: (id: string) => saves.get(id) ?? [],
      /** Answered queries of an object, in their order. */
      readingsOf: (object: string) => readings.get(object) ?? [],
    },
  };
}
