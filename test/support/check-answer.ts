import { isDeepStrictEqual } from "node:util";
import type { Described } from "../../lib/http/endpoint.ts";
import { PAGES } from "../../lib/http/openapi/document.ts";
import type { RouteName } from "../../lib/http/routes.ts";
import type { Envelope } from "./call.ts";

/** Throws when a good answer is not what the API's description promises: a field missing, too many, or of another type. */
export function checkAnswer(route: RouteName, { output }: Described, envelope: Envelope | null): void {
  if (output === undefined || envelope?.success !== true) return;
  const rows = PAGES.has(route) ? (envelope.data as readonly unknown[]) : [envelope.data];
  for (const row of rows) {
    const judged = output.safeParse(row);
    if (!judged.success) throw new Error(`${route} answers what it does not describe: ${judged.error.message}`);
    if (!isDeepStrictEqual(judged.data, row)) {
      throw new Error(`${route} answers more than it describes: ${JSON.stringify(row)}`);
    }
  }
  if (PAGES.has(route) && envelope.meta === undefined) throw new Error(`${route} answers a page without meta`);
}
