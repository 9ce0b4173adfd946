import * as z from "zod/mini";
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

    object: async ({ id }, name) => {
      const answer = await ask(sessionsOf(id), `/sobjects/${encodeURIComponent(name)}/describe`).catch(nullIfUnknown);
      await countCalls(id, 1);
      return answer === null ? null : viewDescription(description.parse(answer));
    },
  };
}

/** Reads the org's count of its API calls; the question costs one. */
export function usageReader({ sessionsOf, countCalls }: Needs): (workspaceId: string) => Promise<CallUsage> {
  return async (workspaceId) => {
    const { content, at } = await askDated(sessionsOf(workspaceId), "/limits");
    await countCalls(workspaceId, 1);
    const { Max, Remaining } = limits.parse(content).DailyApiRequests;
    return { used: Max - Remaining, limit: Max, at };
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
  referenceTo: z.array(z.string()),
});

const description = z.extend(object, { fields: z.array(field) });

/** Types that no column holds (reference heroku-connect.md 2.6). */
const UNMAPPABLE = new Set(["address", "location", "complexvalue", "base64"]);

function viewObject({ name, label, queryable, createable, updateable, custom }: z.infer<typeof object>): ObjectView {
  return { name, label, queryable, createable, updateable, custom };
}

function viewDescription(described: z.infer<typeof description>): ObjectWithFields {
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
    reference_to: one.referenceTo,
  }));
  return { ...viewObject(described), fields };
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
