import { SalesforceRefusal } from "../../model/change/refusal.ts";

/** A document for people, whatever its answer calls it. */
const PAGE = /^\uFEFF?\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)*<(?:!doctype\s+html|html)\b/i;

/** As much of a page's text as shows whether it is one, and its title. */
const HEAD_CHARACTERS = 4_000;
const TITLE_CHARACTERS = 80;

/**
 * The refusal when a web page comes as the answer: of a proxy, a login or an outage. Null when it is none. The message
 * has the page's title, and the address without its query. A save may have been carried out behind it.
 */
export function refusalOfPage(url: string, body: string): SalesforceRefusal | null {
  const head = body.slice(0, HEAD_CHARACTERS);
  if (!PAGE.test(head)) return null;
  const { host, pathname } = new URL(url);
  const title = /<title[^>]*>([\s\S]*?)<\/title>/i.exec(head)?.[1]?.replace(/\s+/g, " ").trim();
  const called = title ? ` titled ${JSON.stringify(title.slice(0, TITLE_CHARACTERS))}` : "";
  const message = `${host} answered ${pathname} with a web page${called}, as a proxy, a login page or an outage does, not the org`;
  return new SalesforceRefusal({ kind: "transient", code: "NOT_SALESFORCE", message, mayHaveRun: true });
}

/** The JSON of an answer; what is a web page, or was cut off, is a refusal. */
export function jsonOrRefusal(url: string, body: string, parse: (text: string) => unknown = JSON.parse): unknown {
  try {
    return parse(body);
  } catch (cause) {
    throw refusalOfPage(url, body) ?? noJson(url, cause);
  }
}

/** The parser's own words would hold a piece of what it read. */
function noJson(url: string, cause: unknown): SalesforceRefusal {
  const { host, pathname } = new URL(url);
  const message = `${host} answered ${pathname} with what is no JSON`;
  return new SalesforceRefusal({ kind: "transient", code: "BROKEN_ANSWER", message, mayHaveRun: true }, cause);
}
