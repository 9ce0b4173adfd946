import type { Dice } from "../../../support/doubles/dice.ts";
import { type Ask, queryAll } from "../../ask.ts";
import type { Deed, Merged } from "./judge/evidence.ts";
import { MERGED_OBJECT, type Proved } from "./mapped-objects.ts";

/** The colleagues who work in Salesforce, and the ledger of what they did. */
export interface Colleagues {
  readonly deeds: readonly Deed[];
  /** Records that were merged into others. */
  readonly merged: readonly Merged[];
  /** Calls of theirs that the org has counted, as far as they were answered. */
  readonly calls: () => number;
  act(dice: Dice): Promise<void>;
  /** One call that creates records; gives the value that they share. */
  add(mapping: Proved, count: number): Promise<string>;
  /** What distinguishes living records, by their ids. */
  tagsOf(object: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

interface Settings {
  readonly url: string;
  readonly accessToken: string;
  readonly mappings: readonly Proved[];
  readonly recordsAtOnce: number;
}

/** Records that are not written to at the moment; one of theirs is written by one colleague at a time. */
interface Known {
  readonly id: string;
  readonly tag: string;
}

export function meetColleagues({ url, accessToken, mappings, recordsAtOnce }: Settings): Colleagues {
  const deeds: Deed[] = [];
  const merged: Merged[] = [];
  const busy = new Set<string>();
  let calls = 0;
  let tokens = 0;

  const ask: Ask = async <Answer>(method: string, path: string, body?: object | string) => {
    const answer = await fetch(`${url}/services/data/v66.0${path}`, {
      method,
      headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    calls += 1;
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return JSON.parse(text) as Answer;
  };

  const find = async ({ object }: Proved, place: number, limit: number): Promise<Known[]> => {
    const order = place < 0.5 ? "DESC" : "ASC";
    const soql = `SELECT Id, Tag__c FROM ${object} WHERE Tag__c != null ORDER BY Id ${order} LIMIT 200`;
    const records = await queryAll<Found>(ask, soql);
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
      const times = { begunAt, endedAt, isSure: result !== undefined };
      deeds.push({ table: mapping.table, tag, recordId: null, action, values: lowerKeys(values), ...times });
    });
  };

  /** Some records that nothing else touches meanwhile. */
  const withFree = async (
    mapping: Proved,
    place: number,
    limit: number,
    work: (free: readonly Known[]) => Promise<void>,
  ) => {
    const found = await find(mapping, place, limit).catch(() => []);
    const free = found.filter(({ id }) => !busy.has(id));
    for (const { id } of free) busy.add(id);
    try {
      await work(free);
    } finally {
      for (const { id } of free) busy.delete(id);
    }
  };

  /** Two records become the first one; the other one is deleted, and names it. */
  const merge = async (mapping: Proved, master: Known, loser: Known) => {
    const begunAt = Date.now();
    const answer = await fetch(`${url}/services/Soap/u/66.0`, {
      method: "POST",
      headers: { "content-type": "text/xml", soapaction: '""' },
      body: mergeOf(accessToken, mapping.object, master.id, loser.id),
    }).catch(() => null);
    const text = (await answer?.text().catch(() => null)) ?? null;
    if (text !== null) calls += 1;
    if (text !== null && !text.includes("<success>true</success>")) return;
    const deed = { table: mapping.table, tag: loser.tag, recordId: null, action: "delete", values: {} } as const;
    deeds.push({ ...deed, begunAt, endedAt: Date.now(), isSure: text !== null });
    if (text !== null) merged.push({ table: mapping.table, tag: loser.tag, id: loser.id, master: master.id });
  };

  const nextToken = () => {
    tokens += 1;
    return `t${tokens}`;
  };
  const insert = (mapping: Proved, token: string, count: number) => {
    const values = { There__c: token, Both__c: token };
    const records = Array.from({ length: count }, (_, n) => ({ id: "", tag: `${token}-${n}`, values }));
    return save(mapping, "insert", records);
  };

  return {
    deeds,
    merged,
    add: async (mapping, count) => {
      const token = nextToken();
      await insert(mapping, token, count);
      return token;
    },
    calls: () => calls,
    tagsOf: async (object, ids) => {
      const list = ids.map((id) => `'${id}'`).join(", ");
      const records = await queryAll<Found>(ask, `SELECT Id, Tag__c FROM ${object} WHERE Id IN (${list})`);
      return new Map(records.map(({ Id, Tag__c }) => [Id, Tag__c]));
    },
    act: async (dice) => {
      const token = nextToken();
      const mapping = dice.pick(mappings);
      const [chance, place, kind] = [dice.roll(), dice.roll(), dice.below(3)];
      const count = 1 + (dice.isUnder(0.3) ? dice.below(recordsAtOnce) : 0);
      if (!mapping) return;
      if (chance < 0.3) return insert(mapping, token, count);
      if (mapping.object === MERGED_OBJECT && chance >= 0.84) {
        await withFree(mapping, place, 2, async ([master, loser]) => {
          if (master && loser) await merge(mapping, master, loser);
        });
        return;
      }
      await withFree(mapping, place, chance < 0.92 ? count : 1, async (free) => {
        if (free.length === 0) return;
        const values = [{ There__c: token }, { Both__c: token }, { There__c: token, Both__c: token }][kind] ?? {};
        const isDelete = chance >= 0.92;
        const saved = free.map((one) => ({ ...one, values: isDelete ? {} : values }));
        await save(mapping, isDelete ? "delete" : "update", saved);
      });
    },
  };
}

const mergeOf = (session: string, object: string, master: string, loser: string): string =>
  `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/" xmlns="urn:partner.soap.sforce.com"><e:Header><SessionHeader><sessionId>${session}</sessionId></SessionHeader></e:Header><e:Body><merge><request><masterRecord><type>${object}</type><Id>${master}</Id></masterRecord><recordToMergeIds>${loser}</recordToMergeIds></request></merge></e:Body></e:Envelope>`;

interface Saved extends Known {
  readonly values: Readonly<Record<string, string>>;
}

type Found = { readonly Id: string; readonly Tag__c: string };
type Results = readonly { readonly success: boolean }[];

async function saveAll(
  ask: Ask,
  { object }: Proved,
  action: Deed["action"],
  records: readonly Saved[],
): Promise<Results> {
  if (action === "delete") {
    return ask("DELETE", `/composite/sobjects?ids=${records.map(({ id }) => id).join(",")}`);
  }
  const bodies = records.map(({ id, tag, values }) => ({
    attributes: { type: object },
    ...(action === "insert" ? { Tag__c: tag } : { id }),
    ...values,
  }));
  const body = { allOrNone: false, records: bodies };
  return ask(action === "insert" ? "POST" : "PATCH", "/composite/sobjects", body);
}

const lowerKeys = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name.toLowerCase(), value]));
