import type { Reply } from "../http/call.ts";
import { Refusal } from "../refusal.ts";
import { escaped } from "./xml.ts";

const OPEN =
  '<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns="urn:partner.soap.sforce.com" xmlns:sf="urn:sobject.partner.soap.sforce.com" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">';

/** What the LimitInfoHeader says. */
export interface Usage {
  readonly used: number;
  readonly allowance: number;
}

/** A SOAP answer; without usage (login) it has no header. */
export function soapReply(body: string, usage: Usage | null): Reply {
  const header = usage
    ? `<soapenv:Header><LimitInfoHeader><limitInfo><current>${usage.used}</current><limit>${usage.allowance}</limit><type>API REQUESTS</type></limitInfo></LimitInfoHeader></soapenv:Header>`
    : "";
  return xmlReply(200, `${OPEN}${header}<soapenv:Body>${body}</soapenv:Body></soapenv:Envelope>`);
}

function xmlReply(status: number, body: string): Reply {
  return { status, headers: { "Content-Type": "text/xml;charset=UTF-8" }, body };
}

const FAULT_TYPE: Readonly<Record<string, string>> = {
  INVALID_LOGIN: "LoginFault",
  INVALID_FIELD: "InvalidFieldFault",
  INVALID_TYPE: "InvalidSObjectFault",
  MALFORMED_ID: "InvalidIdFault",
};

/** They would name the place in a query; nothing else has one. */
const WITH_PLACE = new Set(["InvalidFieldFault", "InvalidSObjectFault"]);

/** What SOAP says where REST says "Session expired or invalid". */
const NO_SESSION =
  "Invalid Session ID found in SessionHeader: Illegal Session. Session not found, missing session hash";

/** What SOAP itself says to a request that it cannot read, before Salesforce has seen it. */
export const MALFORMED = "Client";

const FAULT_OPEN =
  '<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:sf="urn:fault.partner.soap.sforce.com" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">';

/** A refused request as a fault, HTTP 500 (salesforce-facts 7); what is no refusal is UNKNOWN_EXCEPTION. */
export function faultReply(error: unknown): Reply {
  const { code, message } = saidBy(error);
  if (code === MALFORMED) {
    const fault = `<faultcode>soapenv:${code}</faultcode><faultstring>${escaped(message)}</faultstring>`;
    return xmlReply(
      500,
      `${FAULT_OPEN}<soapenv:Body><soapenv:Fault>${fault}</soapenv:Fault></soapenv:Body></soapenv:Envelope>`,
    );
  }
  const type = FAULT_TYPE[code] ?? "UnexpectedErrorFault";
  const place = WITH_PLACE.has(type) ? "<sf:row>-1</sf:row><sf:column>-1</sf:column>" : "";
  const detail = `<sf:${type} xsi:type="sf:${type}"><sf:exceptionCode>${code}</sf:exceptionCode><sf:exceptionMessage>${escaped(message)}</sf:exceptionMessage>${place}</sf:${type}>`;
  const fault = `<soapenv:Fault><faultcode>sf:${code}</faultcode><faultstring>${escaped(`${code}: ${message}`)}</faultstring><detail>${detail}</detail></soapenv:Fault>`;
  return xmlReply(500, `${FAULT_OPEN}<soapenv:Body>${fault}</soapenv:Body></soapenv:Envelope>`);
}

function saidBy(error: unknown): { code: string; message: string } {
  if (error instanceof Refusal)
    return { code: error.code, message: error.code === "INVALID_SESSION_ID" ? NO_SESSION : error.message };
  const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: "UNKNOWN_EXCEPTION", message: `An unexpected error occurred in the embedded org: ${said}` };
}
