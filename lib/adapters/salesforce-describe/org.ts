import type { Org, OrgObject } from "../../config/org.ts";
import { Failure } from "../../model/failure.ts";
import { SalesforceRefusal } from "../../model/refusal.ts";
import type { Sessions } from "../../sync/sessions.ts";
import { readDescription, readGlobal } from "./answers.ts";
import { ask } from "./ask.ts";

/** What was described may be this old: an admin's new field can be imported after it. */
const FRESH_MILLISECONDS = 60_000;

/** Descriptions that are asked for at once: an org bears 25 long requests. */
const AT_ONCE = 5;

interface Needs {
  readonly sessionsOf: (workspaceId: string) => Sessions;
  /** Told of calls that the org counted, all of its REST API. */
  readonly countCalls: (workspaceId: string, calls: number) => Promise<void>;
  readonly now: () => Date;
}

interface Known<Thing> {
  readonly thing: Promise<Thing>;
  readonly until: number;
}

/**
 * The org by plain fetch: one describeGlobal, one describe per object, remembered for a minute. Its refusals become
 * failures that say what an operator can do.
 */
export function describedOrg({ sessionsOf, countCalls, now }: Needs): Org {
  const known = new Map<string, Known<unknown>>();
  const remembered = <Thing>(name: string, read: () => Promise<Thing>): Promise<Thing> => {
    const before = known.get(name);
    if (before && before.until > now().getTime()) return before.thing as Promise<Thing>;
    // A description can be half a megabyte: none is kept longer than it is of use.
    for (const [old, { until }] of known) if (until <= now().getTime()) known.delete(old);
    const thing = read().catch((error: unknown) => {
      known.delete(name);
      throw asFailure(error);
    });
    known.set(name, { thing, until: now().getTime() + FRESH_MILLISECONDS });
    return thing;
  };

  return {
    objectNames: ({ id }) =>
      remembered(id, async () => {
        const names = readGlobal(await ask(sessionsOf(id), "/sobjects"));
        await countCalls(id, 1);
        return names;
      }),

    describe: async ({ id }, names) => {
      const objects = new Map<string, OrgObject>();
      let calls = 0;
      for (let at = 0; at < names.length; at += AT_ONCE) {
        const some = names.slice(at, at + AT_ONCE);
        const described = await Promise.all(
          some.map((name) =>
            remembered(`${id} ${name}`, async () => {
              const answer = await ask(sessionsOf(id), `/sobjects/${encodeURIComponent(name)}/describe`);
              calls += 1;
              return readDescription(answer);
            }),
          ),
        );
        for (const object of described) objects.set(object.name, object);
      }
      if (calls > 0) await countCalls(id, calls);
      return objects;
    },
  };
}

/** A refusal of the org as a failure that says what an operator can do; anything else as it was. */
export function asFailure(error: unknown): unknown {
  if (!(error instanceof SalesforceRefusal)) return error;
  const { kind, code, message } = error.refusal;
  if (code === "NOT_CONNECTED") {
    return new Failure("CONFLICT", "this workspace is not connected to Salesforce yet: connect an org first");
  }
  if (kind === "session" || kind === "disabled")
    return new Failure("CONFLICT", `Salesforce refuses the workspace's connection: ${message}`);
  if (kind === "limit") return new Failure("CONFLICT", `the org has used up its calls of the day: ${message}`);
  return new Failure("INTERNAL_ERROR", `Salesforce could not be asked about the objects (${code}): try again`);
}
