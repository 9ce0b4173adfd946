import type { Dice } from "../../../support/doubles/dice.ts";
import { type Ask, orgAsk, queryAll } from "../../ask.ts";
import type { Deed, Merged } from "./judge/evidence.ts";
import { MERGED_OBJECT, type Proved } from "./mapped-objects.ts";
import type { Stage } from "./stage/stage.ts";

/** The colleagues who work in Salesforce, and the ledger of what they did. */
export type Colleagues = ReturnType<typeof meetColleagues>;

/** Records that one call saves at most. */
const RECORDS_AT_ONCE = 40;

interface Known {
  readonly Id: string;
  readonly Tag__c: string;
}

export function meetColleagues({ url, accessToken }: Stage["org"], mappings: readonly Proved[]) {
  const deeds: Deed[] = [];
  /** Records that were merged into others. */
  const merged: Merged[] = [];
  const busy = new Set<string>();
  let calls = 0;
  let tokens = 0;
  const askOrg = orgAsk(url, accessToken);
  const ask: Ask = async <Answer>(...asked: Parameters<Ask>) => {
    const answer = await askOrg<Answer>(...asked);
    calls += 1;
    return answer;
  };

  /** Saves up to 200 records by one call, each on its own, and writes down what is known of each. */
  const save = async ({ object, table }: Proved, action: Deed["action"], records: readonly Saved[]) => {
    const asked: Parameters<Ask> =
      action === "delete"
        ? ["DELETE", `/composite/sobjects?ids=${records.map(({ Id }) => Id).join(",")}`]
        : [action === "insert" ? "POST" : "PATCH", "/composite/sobjects", bodyOf(object, action, records)];
    const begunAt = Date.now();
    const results = await ask<readonly { readonly success: boolean }[]>(...asked).catch(() => null);
    const endedAt = Date.now();
    records.forEach(({ Tag__c: tag, values }, index) => {
      const result = results?.[index];
      if (result && !result.success) return;
      const lower = Object.fromEntries(Object.entries(values).map(([name, value]) => [name.toLowerCase(), value]));
      deeds.push({ table, tag, recordId: null, action, values: lower, begunAt, endedAt, isSure: result !== undefined });
    });
  };

  /** Some records that nothing else touches meanwhile: one of theirs is written by one colleague at a time. */
  const withFree = async (
    { object }: Proved,
    place: number,
    limit: number,
    work: (free: readonly Known[]) => Promise<void>,
  ) => {
    const order = place < 0.5 ? "DESC" : "ASC";
    const soql = `SELECT Id, Tag__c FROM ${object} WHERE Tag__c != null ORDER BY Id ${order} LIMIT 200`;
    const found = await queryAll<Known>(ask, soql).catch(() => []);
    const start = Math.floor(place * Math.max(0, found.length - limit));
    const free = found.slice(start, start + limit).filter(({ Id }) => !busy.has(Id));
    for (const { Id } of free) busy.add(Id);
    try {
      await work(free);
    } finally {
      for (const { Id } of free) busy.delete(Id);
    }
  };

  /** Two records become the first one; the other one is deleted, and names it. */
  const merge = async ({ object, table }: Proved, master: Known, loser: Known) => {
    const begunAt = Date.now();
    const answer = await fetch(`${url}/services/Soap/u/66.0`, {
      method: "POST",
      headers: { "content-type": "text/xml", soapaction: '""' },
      body: mergeOf(accessToken, object, master.Id, loser.Id),
    }).catch(() => null);
    const text = (await answer?.text().catch(() => null)) ?? null;
    if (text !== null) calls += 1;
    if (text !== null && !text.includes("<success>true</success>")) return;
    const about = { table, tag: loser.Tag__c };
    const times = { begunAt, endedAt: Date.now(), isSure: text !== null };
    deeds.push({ ...about, recordId: null, action: "delete", values: {}, ...times });
    if (text !== null) merged.push({ ...about, id: loser.Id, master: master.Id });
  };

  const nextToken = () => {
    tokens += 1;
    return `t${tokens}`;
  };
  const insert = async (mapping: Proved, count: number) => {
    const token = nextToken();
    const values = { There__c: token, Both__c: token };
    const records = Array.from({ length: count }, (_, n) => ({ Id: "", Tag__c: `${token}-${n}`, values }));
    await save(mapping, "insert", records);
    return token;
  };

  return {
    deeds,
    merged,
    /** Calls of theirs that the org has counted, as far as they were answered well. */
    calls: () => calls,
    /** One call that creates records; gives the value that they share. */
    add: insert,
    act: async (dice: Dice) => {
      const mapping = dice.pick(mappings);
      const [chance, place, kind] = [dice.roll(), dice.roll(), dice.below(3)];
      const count = 1 + (dice.isUnder(0.3) ? dice.below(RECORDS_AT_ONCE) : 0);
      if (!mapping) return;
      if (chance < 0.3) {
        await insert(mapping, count);
        return;
      }
      if (mapping.object === MERGED_OBJECT && chance >= 0.84) {
        await withFree(mapping, place, 2, async ([master, loser]) => {
          if (master && loser) await merge(mapping, master, loser);
        });
        return;
      }
      await withFree(mapping, place, chance < 0.92 ? count : 1, async (free) => {
        if (free.length === 0) return;
        const token = nextToken();
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

const bodyOf = (object: string, action: "insert" | "update", records: readonly Saved[]) => ({
  allOrNone: false,
  records: records.map(({ Id, Tag__c, values }) => ({
    attributes: { type: object },
    ...(action === "insert" ? { Tag__c } : { id: Id }),
    ...values,
  })),
});
