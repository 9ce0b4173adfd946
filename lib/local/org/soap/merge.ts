import { inTransaction } from "../parts-before-bulk.ts";
import type { Draft } from "../saving/draft.ts";
import type { Merged } from "../saving/merger.ts";
import { refused } from "../saving/outcome.ts";
import type { Saving } from "../saving/saving.ts";
import { errorsXml } from "./saves.ts";
import type { SoapCall } from "./soap-call.ts";
import { draftOf } from "./soap-draft.ts";
import { child, children, type Element, tag, textOf } from "./xml.ts";

/** `merge(request[])`: each request for itself, its result in the WSDL's order. */
export async function merge(call: SoapCall): Promise<string> {
  const requests = [...children(call.input, "request"), ...children(call.input, "mergeRequests")];
  const results = await Promise.all(requests.map((request) => mergeOne(call, request)));
  return results.join("");
}

async function mergeOne(call: SoapCall, request: Element): Promise<string> {
  const master = draftOf(call.parts.catalog, child(request, "masterRecord"));
  const losers = children(request, "recordToMergeIds").map((id) => textOf(id).trim());
  const ids = [...(master.id === null ? [] : [master.id]), ...losers];
  return await inTransaction(
    call.parts,
    { session: call.session, ids, request: call.name, object: master.object.name },
    (saving) => resultOf(call, master, losers, saving),
  );
}

function resultOf(call: SoapCall, master: Draft, losers: readonly string[], saving: Saving): string {
  try {
    return mergedXml(call.parts.database.transaction(() => call.parts.dml.merge(master, losers, saving)));
  } catch (error) {
    return `<result>${errorsXml(refused(error).errors)}${tag("id", master.id)}${tag("success", false)}</result>`;
  }
}

function mergedXml({ id, mergedRecordIds, updatedRelatedIds }: Merged): string {
  const list = (name: string, values: readonly string[]) => values.map((value) => tag(name, value)).join("");
  return `<result>${tag("id", id)}${list("mergedRecordIds", mergedRecordIds)}${tag("success", true)}${list("updatedRelatedIds", updatedRelatedIds)}</result>`;
}
