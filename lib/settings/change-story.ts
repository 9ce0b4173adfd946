import * as z from "zod/mini";
import { ROW_REFUSES } from "../model/change/row-refuses.ts";
import { toSnakeCase } from "../model/snake-case.ts";
import { type CapturedChange, capturedChange } from "./row-ports.ts";

const { message, held, superseded, ...captured } = capturedChange.shape;

/** One change with all that is known of it: what was captured, what was sent, what Salesforce said. */
export const changeView = z.object({ ...captured, _ab_err: message, held, superseded });

/** The same, from what was read. */
export function viewChange(change: CapturedChange): z.infer<typeof changeView> {
  const { state, syncedAt, message } = change;
  const isError = state === "FAILED" || syncedAt === null || message?.startsWith(ROW_REFUSES) === true;
  return toSnakeCase(changeView, {
    ...change,
    old: asTexts(change.old),
    values: asTexts(change.values),
    _abErr: isError ? message : null,
  });
}

/** The log keeps texts; what another product wrote into it may be anything of JSON. */
function asTexts(side: CapturedChange["old"]): Record<string, string | null> | null {
  if (side === null) return null;
  const text = (value: unknown) => (value === null || typeof value === "string" ? value : JSON.stringify(value));
  return Object.fromEntries(Object.entries(side).map(([column, value]) => [column, text(value)]));
}
