import * as z from "zod/mini";
import type { ListedObject, Org, OrgObject } from "../../../config/org-ports.ts";
import { type Cache, createCache } from "../../../model/cache.ts";
import { SalesforceRefusal } from "../../../model/change/refusal.ts";
import { chunks } from "../../../model/chunks.ts";
import { Failure } from "../../../model/failure.ts";
import { longId } from "../../../model/record/long-id.ts";
import { judgedCount } from "../../../model/totals.ts";
import type { CallUsage, SaveProbe } from "../../../settings/test-salesforce.ts";
import type { Sessions } from "../../../sync/ports/session-ports.ts";
import { CallMeter } from "../call-meter.ts";
import { type Client, call } from "../client.ts";
import { asDescription, asJson } from "../exchange.ts";
import { understand } from "../understand.ts";
import { describeObject, listObjects } from "./describe-objects.ts";

/** Descriptions that are asked for at once: an org bears 25 long requests. */
const AT_ONCE = 5;

/** Sessions of workspaces, and where their calls are counted. */
export interface OrgNeeds {
  readonly sessionsOf: (workspaceId: string) => Sessions;
  /** Adds to the workspace's count of API calls, by label. */
  readonly countCalls: (workspaceId: string, calls: Readonly<Record<string, number>>) => Promise<void>;
}

/** The org as it is now, or with `ttl` as it was read so lately. Its refusals become failures that say what an operator can do. */
export function connectedOrg(needs: OrgNeeds, ttl?: Parameters<typeof createCache>[0]["ttl"]): Org {
  const cacheOf = <Thing>(): Cache<Thing> => (ttl ? createCache<Thing>({ ttl }) : (_, read) => read());
  const [lists, descriptions] = [cacheOf<readonly ListedObject[]>(), cacheOf<OrgObject | null>()];
  const ask = <Answered>(workspaceId: string, work: (client: Client) => Promise<Answered>) =>
    counted(needs, workspaceId, work).catch(throwFailure);
  return {
    objects: ({ id }) => ask(id, (client) => lists(id, () => listObjects(client))),
    describe: ({ id }, names) =>
      ask(id, async (client) => {
        const found = new Map<string, OrgObject>();
        for (const some of chunks(names, AT_ONCE)) {
          const described = await Promise.all(
            some.map((name) => descriptions(`${id} ${name}`, () => describeObject(client, name).catch(nullIfUnknown))),
          );
          for (const object of described) if (object) found.set(object.name, object);
        }
        return found;
      }),
  };
}

/** Reads the org's count of its API calls; the question costs one. Rejects with `SalesforceRefusal`. */
export function usageReader(needs: OrgNeeds): (workspaceId: string) => Promise<CallUsage> {
  return (workspaceId) =>
    counted(needs, workspaceId, async (client) => {
      const { answer, at } = await call(client, { method: "GET", path: "/limits", reads: asJson });
      const { Max, Remaining } = understand(limits, answer, "the limits").DailyApiRequests;
      return {
        used: judgedCount(Max - Remaining),
        limit: judgedCount(Max),
        at,
        connection: await client.sessions.current(),
      };
    });
}

const limits = z.object({ DailyApiRequests: z.object({ Max: z.number(), Remaining: z.number() }) });

/**
 * Whether records of objects can be saved, by the rights of the user and by the org's answer to an update of a record
 * that cannot exist, which touches nothing. Costs one call and one for ten objects. Rejects with `SalesforceRefusal`.
 */
export function saveProbe(needs: OrgNeeds): (workspaceId: string, objects: readonly string[]) => Promise<SaveProbe[]> {
  return (workspaceId, objects) =>
    counted(needs, workspaceId, async (client) => {
      const { answer } = await call(client, { method: "GET", path: "/sobjects", reads: asDescription });
      const seen = understand(rights, answer, "a describe of all objects").sobjects;
      const asked = seen
        .filter(({ name, keyPrefix }) => keyPrefix !== null && objects.includes(name))
        .slice(0, MOST_PROBED);
      const probes: SaveProbe[] = objects
        .filter((object) => seen.every(({ name }) => name !== object))
        .map((object) => ({ object, createable: false, updateable: false, refusal: null }));
      for (const some of chunks(asked, TYPES_IN_ONE_CALL)) {
        const records = some.map(({ name: type, keyPrefix }) => ({
          attributes: { type },
          id: longId(`${keyPrefix}${"0".repeat(12)}`),
        }));
        const json = { allOrNone: false, records };
        const saved = await call(client, { method: "PATCH", path: "/composite/sobjects", json, reads: asJson });
        const results = understand(saveResults, saved.answer, "an update");
        for (const [at, { name: object, createable, updateable }] of some.entries()) {
          const [error] = results[at]?.errors ?? [];
          const isOfNoRecord = error !== undefined && NO_RECORD.has(error.statusCode);
          const refusal = isOfNoRecord ? null : (error?.message ?? "no answer");
          probes.push({ object, createable, updateable, refusal });
        }
      }
      return probes;
    });
}

/** Objects that are asked for; of others nothing is said. */
const MOST_PROBED = 50;

/** Salesforce takes ten changes of the type in one call (REST API Developer Guide, Update Multiple Records). */
const TYPES_IN_ONE_CALL = 10;

/** Answers that say of the record alone that it is not there. */
const NO_RECORD = new Set([
  "NOT_FOUND",
  "ENTITY_IS_DELETED",
  "INVALID_CROSS_REFERENCE_KEY",
  "INVALID_ID_FIELD",
  "INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY",
]);

const rights = z.object({
  sobjects: z.array(
    z.object({ name: z.string(), keyPrefix: z.nullable(z.string()), createable: z.boolean(), updateable: z.boolean() }),
  ),
});
const saveResults = z.array(z.object({ errors: z.array(z.object({ statusCode: z.string(), message: z.string() })) }));

/** Asks an org, and counts the calls. */
export async function counted<Answered>(
  { sessionsOf, countCalls }: OrgNeeds,
  workspaceId: string,
  work: (client: Client) => Promise<Answered>,
): Promise<Answered> {
  const meter = new CallMeter();
  try {
    return await work({ sessions: sessionsOf(workspaceId), meter });
  } finally {
    await countCalls(workspaceId, meter.calls());
  }
}

function nullIfUnknown(error: unknown): null {
  if (error instanceof SalesforceRefusal && error.refusal.code === "NOT_FOUND") return null;
  throw error;
}

/** A refusal as a failure that says what an operator can do. */
export function throwFailure(error: unknown): never {
  if (!(error instanceof SalesforceRefusal)) throw error;
  const { kind, code, message } = error.refusal;
  if (code === "NOT_CONNECTED") {
    throw new Failure("CONFLICT", "this workspace is not connected to Salesforce yet: connect an org first");
  }
  if (kind === "session" || kind === "disabled") {
    throw new Failure("CONFLICT", `Salesforce refuses the workspace's connection: ${message}`);
  }
  if (kind === "limit") throw new Failure("CONFLICT", `the org has used up its calls of the day: ${message}`);
  throw new Failure("INTERNAL_ERROR", `Salesforce could not be asked about the objects (${code}): try again`);
}
