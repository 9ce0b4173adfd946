import type * as z from "zod/mini";
import { SalesforceRefusal } from "../../model/change/refusal.ts";

/**
 * An answer in the shape that it must have. One of another shape is a refusal, as from a proxy or a version of Salesforce
 * that answers otherwise; it names the places that are wrong, and none of their values. A save may have been carried out.
 */
export function understand<Shape extends z.ZodMiniType>(shape: Shape, answer: unknown, asked: string): z.output<Shape> {
  const { success, data, error } = shape.safeParse(answer);
  if (success) return data;
  const places = error.issues.slice(0, TOLD_PLACES).map(({ path }) => path.join(".") || "the whole");
  const message = `${asked} was answered in a shape that is not Salesforce's (wrong: ${[...new Set(places)].join(", ")})`;
  throw new SalesforceRefusal({ kind: "transient", code: "BROKEN_ANSWER", message, mayHaveRun: true });
}

const TOLD_PLACES = 3;
