import type { Dice } from "../../../support/doubles/dice.ts";
import type { Deed } from "./judge/evidence.ts";
import type { Proved } from "./mapped-objects.ts";

/** The colleagues who work in Salesforce, and the ledger of what they did. */
export interface Colleagues {
  readonly deeds: readonly Deed[];
  /** Calls of theirs that the org has counted, as far as they were answered. */
  readonly calls: () => number;
  act(dice: Dice): Promise<void>;
  /** What tells living records apart, by their ids. */
  tagsOf(object: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

interface Settings {
  readonly url: string;
  readonly accessToken: string;
  readonly mappings: readonly Proved[];
  readonly recordsAtOnce: number;
}

/** Records that nobody writes to at the moment; one of theirs is written by one colleague at a time. */
interface Known {
  readonly id: string;
  readonly tag: string;
}

export function meetColleagues({ url, accessToken, mappings, recordsAtOnce }: Settings): Colleagues {
  const deeds: Deed[] = [];
  const busy = new Set<string>();
  let calls = 0;
  let tokens = 0;

  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${url}/services/data/v66.0${path}`, {
      method,
      headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    calls += 1;
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return JSON.parse(text) as unknown;
  };

  const find = async ({ object }: Proved, place: number, limit: number): Promise<Known[]> => {
    const order = place < 0.5 ? "DESC" : "ASC";
    const soql = `SELECT Id, Tag__c FROM ${object} WHERE Tag__c != null ORDER BY Id ${order} LIMIT 200`;
    const { records } = (await ask("GET", `/query?q=${encodeURIComponent(soql)}`)) as {
      records: { Id: string; Tag__c: string }[];
    };
    const start = Math.floor(place * Math.max(0, records.length - limit));
    return records.slice(start, start + limit).map(({ Id, Tag__c }) => ({ id: Id, tag: Tag__c }));
  };

  /** Saves up to 200 records by one call, each on its own, and writes down what is known of each. */
  const save = async (mapping: Proved, action: Deed["action"], records: readonly Saved[]) => {
    const begunAt = Date.now();
    const results = await saveAll(ask, mapping, action, records).catch(() => null);
    const endedAt = Date.now();
    records.forEach(({ tag, values }, index) => {
      const result = results?.[index];
      if (result && !result.success) return;
      deeds.push({
        table: mapping.table,
        tag,
        recordId: null,
        action,
        values: lowerKeys(values),
        begunAt,
        endedAt,
        isSure: result !== undefined,
      });
    });
  };

  return {
    deeds,
    calls: () => calls,
    tagsOf: async (object, ids) => {
      const list = ids.map((id) => `'${id}'`).join(", ");
      const soql = encodeURIComponent(`SELECT Id, Tag__c FROM ${object} WHERE Id IN (${list})`);
      const { records } = (await ask("GET", `/query?q=${soql}`)) as { records: { Id: string; Tag__c: string }[] };
      return new Map(records.map(({ Id, Tag__c }) => [Id, Tag__c]));
    },
    act: async (dice) => {
      tokens += 1;
      const token = `t${tokens}`;
      const mapping = dice.pick(mappings);
      const [chance, place, kind] = [dice.roll(), dice.roll(), dice.below(3)];
      const count = 1 + (dice.isUnder(0.3) ? dice.below(recordsAtOnce) : 0);
      if (!mapping) return;
      if (chance < 0.3) {
        const values = { There__c: token, Both__c: token };
        await save(
          mapping,
          "insert",
          Array.from({ length: count }, (_, n) => ({ id: "", tag: `${token}-${n}`, values })),
        );
        return;
      }
      const found = await find(mapping, place, chance < 0.92 ? count : 1).catch(() => []);
      const free = found.filter(({ id }) => !busy.has(id));
      for (const { id } of free) busy.add(id);
      try {
        const values = [{ There__c: token }, { Both__c: token }, { There__c: token, Both__c: token }][kind] ?? {};
        if (free.length > 0) {
          const isDelete = chance >= 0.92;
          await save(
            mapping,
            isDelete ? "delete" : "update",
            free.map((one) => ({ ...one, values: isDelete ? {} : values })),
          );
        }
      } finally {
        for (const { id } of free) busy.delete(id);
      }
    },
  };
}

interface Saved extends Known {
  readonly values: Readonly<Record<string, string>>;
}

type Ask = (method: string, path: string, body?: unknown) => Promise<unknown>;
type Results = readonly { readonly success: boolean }[];

async function saveAll(
  ask: Ask,
  { object }: Proved,
  action: Deed["action"],
  records: readonly Saved[],
): Promise<Results> {
  if (action === "delete") {
    return (await ask("DELETE", `/composite/sobjects?ids=${records.map(({ id }) => id).join(",")}`)) as Results;
  }
  const bodies = records.map(({ id, tag, values }) => ({
    attributes: { type: object },
    ...(action === "insert" ? { Tag__c: tag } : { id }),
    ...values,
  }));
  const body = { allOrNone: false, records: bodies };
  return (await ask(action === "insert" ? "POST" : "PATCH", "/composite/sobjects", body)) as Results;
}

const lowerKeys = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name.toLowerCase(), value]));
