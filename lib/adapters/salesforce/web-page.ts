import { SalesforceRefusal } from "../../model/change/refusal.ts";

/** As much of a page's text as shows whether it is one, and its title. */
const HEAD_CHARACTERS = 4_000;
const TITLE_CHARACTERS = 80;

/**
 * The refusal when a web page comes as the answer: of a proxy, a login or an outage. Null when it is none. The message
 * has the page's title, and the address without its query. A save may have been carried out behind it.
 */
export function refusalOfPage(url: string, body: string): SalesforceRefusal | null {
  const head = body.slice(0, HEAD_CHARACTERS);
  if (!isPage(head)) return null;
  const { host, pathname } = new URL(url);
  const [title = "", ...closed] = behind(head.split(/<title/i, 2)[1] ?? "", ">").split(/<\/title>/i);
  const words = closed.length > 0 ? title.replace(/\s+/g, " ").trim() : "";
  const called = words ? ` titled ${JSON.stringify(words.slice(0, TITLE_CHARACTERS))}` : "";
  const message = `${host} answered ${pathname} with a web page${called}, as a proxy, a login page or an outage does, not the org`;
  return new SalesforceRefusal({ kind: "transient", code: "NOT_SALESFORCE", message, mayHaveRun: true });
}

/** Whether a document for people begins here, behind its declaration and comments, whatever its answer calls it. */
function isPage(head: string): boolean {
  let rest = head.trimStart();
  if (/^<\?xml/i.test(rest)) rest = behind(rest, ">");
  while (rest.startsWith("<!--")) rest = behind(rest, "-->");
  return /^<(?:!doctype\s+html|html)\b/i.test(rest);
}

/** The text behind the next such mark, without space at its beginning; empty where there is none. */
function behind(text: string, mark: string): string {
  const at = text.indexOf(mark);
  return at < 0 ? "" : text.slice(at + mark.length).trimStart();
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
