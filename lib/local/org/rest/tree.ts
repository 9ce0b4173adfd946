import type { SObject } from "../metadata/sobject.ts";
import { inTransaction } from "../parts-before-bulk.ts";
import { Refusal } from "../refusal.ts";
import { jsonObject, objectsIn, param, type RestCall, type RestReply } from "../rest-call.ts";
import { type RecordError, refused } from "../saving/outcome.ts";
import type { Saving } from "../saving/saving.ts";
import { textOf } from "../text-of.ts";
import { draftOf, objectAt } from "./rest-draft.ts";

const MAX_RECORDS = 200;
const MAX_DEPTH = 5;

/** One record of a tree, flattened: parents come before their children. */
interface Node {
  readonly object: SObject;
  readonly referenceId: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly parent: { readonly node: Node; readonly field: string } | null;
}

class Failed extends Error {
  readonly referenceId: string;
  readonly errors: readonly RecordError[];

  constructor(referenceId: string, errors: readonly RecordError[]) {
    super(`record ${referenceId} was refused`);
    this.referenceId = referenceId;
    this.errors = errors;
  }
}

/** `POST /composite/tree/X` (salesforce-facts 3.4): parents with their children, all or none. */
export async function tree(call: RestCall): Promise<RestReply> {
  const object = objectAt(call.parts.catalog, param(call, "object"));
  const nodes = nodesOf(call, object, recordsOf(jsonObject(call)), null, 1);
  if (nodes.length > MAX_RECORDS)
    throw new Refusal("EXCEEDED_ID_LIMIT", `The number of records specified exceeds the limit of ${MAX_RECORDS}`);
  try {
    const results = await inTransaction(
      call.parts,
      { session: call.session, request: call.name, object: object.name, records: nodes.length },
      (saving) => saveNodes(call, nodes, saving),
    );
    return { status: 201, json: { hasErrors: false, results } };
  } catch (error) {
    if (!(error instanceof Failed)) throw error;
    return {
      status: 400,
      json: { hasErrors: true, results: [{ referenceId: error.referenceId, errors: error.errors }] },
    };
  }
}

function recordsOf(value: unknown): readonly Record<string, unknown>[] {
  const records = typeof value === "object" && value !== null && "records" in value ? value.records : [];
  return objectsIn(records);
}

function nodesOf(
  call: RestCall,
  object: SObject,
  records: readonly Record<string, unknown>[],
  parent: Node["parent"],
  depth: number,
): Node[] {
  if (depth > MAX_DEPTH) throw new Refusal("INVALID_INPUT", `An sObject tree has at most ${MAX_DEPTH} levels`);
  return records.flatMap((record) => {
    const attributes = (record["attributes"] ?? {}) as Record<string, unknown>;
    const relationships = Object.keys(record).flatMap((name) => {
      const relationship = object.field(name) ? undefined : call.parts.catalog.childRelationship(object, name);
      return relationship ? [{ name, relationship }] : [];
    });
    const names = new Set(relationships.map(({ name }) => name));
    const fields = Object.fromEntries(Object.entries(record).filter(([name]) => !names.has(name)));
    const node: Node = { object, referenceId: textOf(attributes["referenceId"] ?? ""), fields, parent };
    const children = relationships.flatMap(({ name, relationship: { child, field } }) =>
      nodesOf(call, child, recordsOf(record[name]), { node, field: field.name }, depth + 1),
    );
    return [node, ...children];
  });
}

function saveNodes(call: RestCall, nodes: readonly Node[], saving: Saving): { referenceId: string; id: string }[] {
  const ids = new Map<Node, string>();
  return nodes.map((node) => {
    const { object, referenceId, fields, parent } = node;
    try {
      const link = parent ? { [parent.field]: ids.get(parent.node) } : {};
      const id = call.parts.dml.saver.create(draftOf(call.parts.catalog, object, { ...fields, ...link }, null), saving);
      ids.set(node, id);
      return { referenceId, id };
    } catch (error) {
      throw new Failed(referenceId, refused(error).errors);
    }
  });
}
