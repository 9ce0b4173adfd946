import type { Session } from "../access/sessions.ts";
import type { Parts } from "../parts.ts";
import { child, type Element, textOf } from "./xml.ts";

/** A SOAP operation of a known session. */
export interface SoapCall {
  readonly parts: Parts;
  readonly session: Session;
  readonly header: Element;
  readonly input: Element;
  /** How the request is called in the journal and by faults. */
  readonly name: string;
}

/** What an operation answers: the inside of its response element. */
export type Operation = (call: SoapCall) => string | Promise<string>;

/** The AllOrNoneHeader; false unless it says true. */
export function allOrNone({ header }: SoapCall): boolean {
  return textOf(child(child(header, "AllOrNoneHeader"), "allOrNone")).trim() === "true";
}
