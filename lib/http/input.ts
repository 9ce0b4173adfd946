import * as z from "zod/mini";
import { Failure, type FailureDetail } from "../model/failure.ts";
import { detailPath } from "../model/mapping/detail-path.ts";
import type { GatewayEvent } from "./request.ts";

/** A page's size: clamped to `maximum`, refused when it is no whole number of at least 1 (design section 6). */
export const pageSize = (maximum: number) => wholeNumber(1, (value) => Math.min(value, maximum));

/** How many rows to skip. */
export const pageOffset = () =>
  z._default(
    wholeNumber(0, (value) => value),
    0,
  );

/** How many minutes to look back, an hour unless said otherwise; clamped to `most`. */
export const minutesBack = (most: number) =>
  z._default(
    wholeNumber(1, (value) => Math.min(value, most)),
    60,
  );

/** In how many hours, at once unless said otherwise; clamped to `most`. */
export const hoursAhead = (most: number) =>
  z._default(
    wholeNumber(0, (value) => Math.min(value, most)),
    0,
  );

function wholeNumber(least: number, read: (value: number) => number) {
  const rule = `must be a whole number, at least ${least}`;
  const isRight = (text: string) => /^\d{1,15}$/.test(text) && Number(text) >= least;
  return z.pipe(
    z.string().check(z.refine(isRight, { error: rule })),
    z.transform((text: string) => read(Number(text))),
  );
}

/** One of some words, exactly as written. */
export const oneOf = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, { error: `must be one of ${words.join(", ")}` });

/** A switch in the query: `true` or `false`. */
export const flag = () =>
  z._default(
    z.pipe(
      oneOf(["true", "false"]),
      z.transform((word) => word === "true"),
    ),
    false,
  );

/** Text to filter by. */
export const filterText = () =>
  z.string({ error: "must be a text" }).check(
    z.minLength(1, { error: "must not be empty; leave it out to filter nothing" }),
    z.maxLength(255, { error: "must be at most 255 characters" }),
    z.refine((text) => !text.includes("\u0000"), { error: "must not hold a NUL character" }),
  );

/** The query's parameters by name; one that stands there twice is refused, for nobody can say which is meant. */
export function queryOf(event: GatewayEvent): Readonly<Record<string, string>> {
  const all = Object.entries(event.multiValueQueryStringParameters ?? {});
  const doubled = all.filter(([, values]) => (values?.length ?? 0) > 1);
  if (doubled.length > 0) {
    throw invalid(doubled.map(([name]) => ({ path: name, message: "must be given only once" })));
  }
  const broken = all.filter(([, values]) => values?.some((value) => !value.isWellFormed()));
  if (broken.length > 0) throw invalid(broken.map(([name]) => ({ path: name, message: "holds half a character" })));
  return Object.fromEntries(all.map(([name, values]) => [name, values?.[0] ?? ""]));
}

/** What the schema makes of the input, or VALIDATION_ERROR with every bad part by its path. */
export function validate<Input>(schema: z.ZodMiniType<Input>, given: unknown): Input {
  const judged = schema.safeParse(given);
  if (judged.success) return judged.data;
  throw invalid(judged.error.issues.map(({ path, message }) => ({ path: detailPath(path), message })));
}

/** Details that one refusal lists; the rest is told by number. */
const MAX_DETAILS = 50;

/** VALIDATION_ERROR that says all there is to mend. */
export function invalid(details: readonly FailureDetail[]): Failure {
  const [first] = details;
  const message = first ? `${first.path}: ${first.message}` : "the request is not valid";
  return new Failure("VALIDATION_ERROR", details.length > 1 ? `${message} (and ${details.length - 1} more)` : message, {
    details: details.slice(0, MAX_DETAILS),
  });
}
