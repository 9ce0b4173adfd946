import { normalizeId } from "../ids.ts";
import { inTransaction } from "../parts-before-bulk.ts";
import type { Conversion } from "../saving/converter.ts";
import { refused } from "../saving/outcome.ts";
import { errorsXml } from "./saves.ts";
import type { SoapCall } from "./soap-call.ts";
import { child, children, type Element, tag, textOf } from "./xml.ts";

/** `convertLead(leadConverts[])`: each lead for itself, its result in the WSDL's order. */
export async function convertLeads(call: SoapCall): Promise<string> {
  const results = await Promise.all(
    children(call.input, "leadConverts").map((asked) => convertOne(call, conversionOf(asked))),
  );
  return results.join("");
}

function conversionOf(asked: Element): Conversion {
  const text = (name: string) => textOf(child(asked, name)).trim();
  const id = (name: string) => normalizeId(text(name));
  return {
    leadId: id("leadId") ?? "",
    convertedStatus: text("convertedStatus"),
    accountId: id("accountId"),
    contactId: id("contactId"),
    opportunityName: text("opportunityName") || null,
    doNotCreateOpportunity: text("doNotCreateOpportunity") === "true",
  };
}

async function convertOne(call: SoapCall, asked: Conversion): Promise<string> {
  const { parts, session, name } = call;
  return await inTransaction(parts, { session, ids: [asked.leadId], request: name, object: "Lead" }, (saving) => {
    try {
      const { accountId, contactId, opportunityId } = parts.database.transaction(() =>
        parts.dml.convertLead(asked, saving),
      );
      return `<result>${tag("accountId", accountId)}${tag("contactId", contactId)}${tag("leadId", asked.leadId)}${tag("opportunityId", opportunityId)}${tag("success", true)}</result>`;
    } catch (error) {
      const ids = `${tag("accountId", null)}${tag("contactId", null)}`;
      return `<result>${ids}${errorsXml(refused(error).errors)}${tag("leadId", asked.leadId)}${tag("opportunityId", null)}${tag("success", false)}</result>`;
    }
  });
}
