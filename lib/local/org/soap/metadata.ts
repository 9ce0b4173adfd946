import type { Session } from "../access/sessions.ts";
import type { Call, Reply } from "../http/call.ts";
import type { Parts } from "../parts.ts";
import { Refusal } from "../refusal.ts";
import { CONVERTED_STATUSES } from "../saving/converter.ts";
import { faultReply, soapReply } from "./envelope.ts";
import { child, children, parseEnvelope, tag, textOf } from "./xml.ts";

/** The one corner of the metadata protocol that clients need to read: `readMetadata` of custom fields, for their picklists. */
export function answerMetadata(parts: Parts, call: Call, admit: (token: string) => Session): Reply {
  try {
    const { header, operation, input } = parseEnvelope(call.body.toString("utf8"));
    admit(textOf(child(child(header, "SessionHeader"), "sessionId")).trim());
    const type = textOf(child(input, "type")).trim();
    if (operation !== "readMetadata" || type !== "CustomField")
      throw new Refusal(
        "INVALID_OPERATION",
        `the embedded org answers readMetadata of CustomField only, not ${operation} ${type}`,
      );
    const records = children(input, "fullNames").map((name) => fieldXml(parts, textOf(name).trim()));
    return soapReply(
      `<readMetadataResponse xmlns="http://soap.sforce.com/2006/04/metadata"><result>${records.join("")}</result></readMetadataResponse>`,
      null,
    );
  } catch (error) {
    return faultReply(error);
  }
}

function fieldXml({ catalog }: Parts, fullName: string): string {
  const [objectName = "", fieldName = ""] = fullName.split(".");
  const field = catalog.find(objectName)?.field(fieldName);
  if (!field) return '<records xsi:type="CustomField" xsi:nil="true"/>';
  const values = field.picklist.map(
    ({ value, isDefault }) =>
      `<picklistValues>${tag("fullName", value)}${tag("default", isDefault)}${tag("converted", CONVERTED_STATUSES.has(value))}</picklistValues>`,
  );
  return `<records xsi:type="CustomField">${tag("fullName", fullName)}${tag("label", field.label)}<picklist>${values.join("")}<sorted>false</sorted></picklist>${tag("type", "Picklist")}</records>`;
}
