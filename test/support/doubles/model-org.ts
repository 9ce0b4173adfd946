import { type RequestRefusal, SalesforceRefusal } from "../../../lib/model/change/refusal.ts";
import type { OutgoingRecord, RecordResult } from "../../../lib/model/record/record.ts";
import type { Salesforce } from "../../../lib/sync/ports/cycle-ports.ts";
import type { QueryPage } from "../../../lib/sync/ports/pull-ports.ts";
import type { ModelClock } from "./model-clock.ts";

/** The results of one save: answered, lost on its way there or back, or carried out long after we gave it up. */
export type Fate = "answered" | "never arrives" | "answer lost" | "commits late";

interface Kept {
  readonly id: string;
  readonly key: string | null;
  readonly createdAt: number;
  name: string;
  isDeleted: boolean;
}

/** A request that is stopped for longer between its last check and the wire is another tale (README, In doubt). */
const LONGEST_FLIGHT_MILLISECONDS = 20_000;

/** A port of which only this part is asked: anything else is a mistake of the test. */
export function partOf<Port extends object>(part: Partial<Port>): Port {
  return new Proxy(part, {
    get: (_, name) => {
      if (name in part || name === "then") return Reflect.get(part, name); // what can be awaited has a `then`
      throw new Error(`a cycle that only pushes asks nothing of ${String(name)}`);
    },
  }) as Port;
}

/** One object of an org as a model: saves arrive as steps of their own, and what arrives too late is written down. */
export class ModelOrg {
  readonly records: Kept[] = [];
  readonly stale: string[] = [];
  readonly #clock: ModelClock;

  constructor(clock: ModelClock) {
    this.#clock = clock;
  }

  /** The org as one cycle sees it. */
  connected(step: (label: string) => Promise<void>, fates: () => Fate): Salesforce {
    const query = async (soql: string): Promise<QueryPage> => {
      await step("query arrives");
      const page = this.#found(soql);
      await step("query answered");
      return page;
    };
    return partOf<Salesforce>({
      query,
      queryTogether: (soqls) => Promise.all(soqls.map(query)),
      write: async (operation, _, records, externalIdField) => {
        const sentAt = this.#clock.now();
        const fate = fates();
        await step("save arrives");
        if (this.#clock.now() - sentAt > LONGEST_FLIGHT_MILLISECONDS) throw refusal("UNREACHABLE", false);
        if (fate === "never arrives") throw refusal("BROKEN_ANSWER", true);
        // The lock on an external id, or on a record that goes, makes the second wait for the first.
        if (fate === "commits late" && (operation === "create" || operation === "update")) {
          this.#clock.at(sentAt + 500_000, () =>
            records.map((record) => this.#save(operation, record, externalIdField)),
          );
          throw refusal("TIMEOUT", true);
        }
        const results = records.map((record) => this.#save(operation, record, externalIdField));
        await step("save answered");
        if (fate !== "answered") throw refusal("BROKEN_ANSWER", true);
        return { answeredAt: new Date(this.#clock.now()), results };
      },
      calls: () => ({}),
      usage: () => null,
    });
  }

  #save(operation: string, { id, values }: OutgoingRecord, keyField: string | null): RecordResult {
    const name = values["LastName"] ?? "";
    const key = keyField === null ? null : (values[keyField] ?? null);
    const kept = this.records.find((one) => (operation === "upsert" ? one.key === key : one.id === id));
    const isNew = operation === "create" || (operation === "upsert" && !kept);
    if (isNew) {
      const made = { id: idOf(this.records.length), key, name, createdAt: this.#clock.now(), isDeleted: false };
      this.records.push(made);
      return { id: made.id, success: true, created: true, errors: [] };
    }
    if (!kept || kept.isDeleted) {
      const errors = [{ code: "ENTITY_IS_DELETED", message: "entity is deleted", fields: [] }];
      return { id, success: false, created: false, errors };
    }
    if (operation === "delete") kept.isDeleted = true;
    else if (name !== "") {
      if (numberOf(name) < numberOf(kept.name)) this.stale.push(`${name} over ${kept.name}`);
      kept.name = name;
    }
    return { id: kept.id, success: true, created: false, errors: [] };
  }

  #found(soql: string): QueryPage {
    const since = /CreatedDate >= (\S+)/.exec(soql)?.[1];
    const records = this.records
      .filter(({ id, createdAt }) => (since === undefined ? soql.includes(id) : createdAt >= Date.parse(since)))
      .map(({ id, key, name, createdAt, isDeleted }) => ({
        Id: id,
        SystemModstamp: new Date(this.#clock.now()).toISOString(),
        CreatedDate: new Date(createdAt).toISOString(),
        IsDeleted: isDeleted,
        LastName: name,
        Key__c: key,
      }));
    return { records, complete: true, readAt: new Date(this.#clock.now()) };
  }
}

const numberOf = (name: string) => Number(name.slice(1));
const idOf = (index: number) => `003${String(index + 1).padStart(12, "0")}AAA`;

function refusal(code: string, mayHaveRun: boolean): SalesforceRefusal {
  return new SalesforceRefusal({ kind: "transient", code, message: "on demand", mayHaveRun } satisfies RequestRefusal);
}
