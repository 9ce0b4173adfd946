import * as z from "zod/mini";
import { columnType } from "../../model/column-type.ts";
import { parentFieldName } from "../../model/parent-key.ts";
import { SalesforceRefusal } from "../../model/refusal.ts";
import type { ObjectView, ObjectWithFields, OrgCatalog } from "../../settings/catalog.ts";
import type { CallUsage } from "../../settings/test-salesforce.ts";
import type { Sessions } from "../../sync/sessions.ts";
import { ask, askDated } from "./ask.ts";
import { asFailure } from "./org.ts";

interface Needs {
  readonly sessionsOf: (workspaceId: string) => Sessions;
  /** Adds to the workspace's count of API calls. */
  readonly countCalls: (workspaceId: string, calls: number) => Promise<void>;
}

/** The org's objects and fields for pickers, asked anew each time: an admin's new field shows at once. */
export function orgCatalog({ sessionsOf, countCalls }: Needs): OrgCatalog {
  return {
    objects: async ({ id }) => {
      const answer = await ask(sessionsOf(id), "/sobjects").catch(throwFailure);
      await countCalls(id, 1);
      return global.parse(answer).sobjects.map(viewObject).toSorted(byName);
    },

    object: async ({ id }, name, parents) => {
      const described = await describe(sessionsOf(id), name);
      await countCalls(id, 1);
      if (described === null) return null;
      const wanted = parents ? parentsOf(described) : [];
      const found = await describeAll(sessionsOf(id), wanted);
      if (wanted.length > 0) await countCalls(id, wanted.length);
      return viewDescription(described, parents ? [described, ...found] : []);
    },
  };
}

type Description = z.infer<typeof description>;

async function describe(sessions: Sessions, name: string): Promise<Description | null> {
  const answer = await ask(sessions, `/sobjects/${encodeURIComponent(name)}/describe`).catch(nullIfUnknown);
  return answer === null ? null : description.parse(answer);
}

/** Objects that lookups point to, other than the object itself; a lookup that points to several names no parent by a key. */
function parentsOf({ name, fields }: Description): readonly string[] {
  const targets = fields.flatMap(({ relationshipName, referenceTo }) => {
    const [target, ...others] = referenceTo;
    return relationshipName !== null && target !== undefined && others.length === 0 ? [target] : [];
  });
  return [...new Set(targets)].filter((target) => target !== name).slice(0, MOST_PARENTS);
}

/** Parents that one request asks about, and how many of them at once. */
const MOST_PARENTS = 25;
const AT_ONCE = 5;

async function describeAll(sessions: Sessions, names: readonly string[]): Promise<readonly Description[]> {
  const found: Description[] = [];
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = await Promise.all(names.slice(at, at + AT_ONCE).map((name) => describe(sessions, name)));
    found.push(...some.filter((one) => one !== null));
  }
  return found;
}

/** Reads the org's count of its API calls; the question costs one. */
export function usageReader({ sessionsOf, countCalls }: Needs): (workspaceId: string) => Promise<CallUsage> {
  return async (workspaceId) => {
    const sessions = sessionsOf(workspaceId);
    const { content, at } = await askDated(sessions, "/limits");
    await countCalls(workspaceId, 1);
    const { Max, Remaining } = limits.parse(content).DailyApiRequests;
    return { used: Max - Remaining, limit: Max, at, connection: await sessions.current() };
  };
}

const limits = z.object({ DailyApiRequests: z.object({ Max: z.number(), Remaining: z.number() }) });

const object = z.object({
  name: z.string(),
  label: z.string(),
  queryable: z.boolean(),
  createable: z.boolean(),
  updateable: z.boolean(),
  custom: z.boolean(),
});

const global = z.object({ sobjects: z.array(object) });

const field = z.object({
  name: z.string(),
  label: z.string(),
  type: z.string(),
  length: z.number(),
  precision: z.number(),
  scale: z.number(),
  nillable: z.boolean(),
  defaultedOnCreate: z.boolean(),
  createable: z.boolean(),
  updateable: z.boolean(),
  externalId: z.boolean(),
  unique: z.boolean(),
  calculated: z.boolean(),
  filterable: z.boolean(),
  referenceTo: z.array(z.string()),
  relationshipName: z.nullable(z.string()),
});

const description = z.extend(object, { fields: z.array(field) });

/** Types that no column holds (reference heroku-connect.md 2.6). */
const UNMAPPABLE = new Set(["address", "location", "complexvalue", "base64"]);

function viewObject({ name, label, queryable, createable, updateable, custom }: z.infer<typeof object>): ObjectView {
  return { name, label, queryable, createable, updateable, custom };
}

function viewDescription(described: Description, parents: readonly Description[]): ObjectWithFields {
  const fields = described.fields.map((one) => ({
    name: one.name,
    label: one.label,
    type: one.type,
    length: one.length,
    precision: one.precision,
    scale: one.scale,
    required: one.createable && !one.nillable && !one.defaultedOnCreate,
    createable: one.createable,
    updateable: one.updateable,
    external_id: one.externalId || one.type === "id",
    unique: one.unique,
    calculated: one.calculated,
    mappable: !UNMAPPABLE.has(one.type),
    pg_type: UNMAPPABLE.has(one.type) ? null : columnType(one),
    filterable: one.filterable,
    reference_to: one.referenceTo,
    parent_keys: parentKeys(one, parents),
  }));
  return { ...viewObject(described), fields };
}

/** External ids of the one object that a lookup points to, as fields that a mapping may have. */
function parentKeys({ relationshipName, referenceTo }: Description["fields"][number], parents: readonly Description[]) {
  const [target, ...others] = referenceTo;
  const parent = others.length > 0 ? undefined : parents.find(({ name }) => name === target);
  if (relationshipName === null || !parent) return [];
  return parent.fields
    .filter(({ externalId, type }) => externalId && type !== "id")
    .map(({ name, label }) => ({
      name: parentFieldName({ relationship: relationshipName, field: name }),
      object: parent.name,
      label: `${parent.label}: ${label}`,
    }));
}

const byName = (one: { readonly name: string }, other: { readonly name: string }): number =>
  one.name < other.name ? -1 : 1;

function throwFailure(error: unknown): never {
  throw asFailure(error);
}

function nullIfUnknown(error: unknown): null {
  if (error instanceof SalesforceRefusal && error.refusal.code === "NOT_FOUND") return null;
  throw asFailure(error);
}
