import * as z from "zod/mini";
import { Failure, type FailureDetail } from "../model/failure.ts";
import { detailPath } from "../model/mapping/detail-path.ts";
import { didYouMean, nearest } from "../model/nearest.ts";
import { isOneLine, ONE_LINE } from "../model/one-line.ts";
import type { GatewayEvent } from "./request.ts";

/** A page's size: clamped to `maximum`, refused when it is no whole number of at least 1. */
export const pageSize = (maximum: number, usual = 50) => wholeNumber({ minimum: 1, maximum, default: usual });

/** The page of a list that is asked for. */
export const page = () => ({
  limit: z._default(pageSize(200), 50),
  offset: z._default(wholeNumber({ minimum: 0, default: 0 }), 0),
});

/** A page of the rows below this id of the trigger log: the last id of the page before. */
export const rowCursor = () => z.optional(wholeNumber({ minimum: 1 }));

/** A time: ISO 8601 with its zone (`2026-01-31T00:00:00Z`), or a day, which begins at midnight UTC. */
export const instantText = () => {
  const rule = "must be a time such as 2026-01-31T00:00:00Z, or a day such as 2026-01-31";
  return z.pipe(
    z.union([z.iso.datetime({ offset: true }), z.iso.date()], { error: rule }),
    z.transform((text: string) => new Date(text)),
  );
};

/** How many minutes to look back, an hour unless said otherwise; clamped to `most`. */
export const minutesBack = (most: number) => z._default(wholeNumber({ minimum: 1, maximum: most, default: 60 }), 60);

/** In how many hours, or for how many seconds: none unless said otherwise; clamped to `most`. */
export const noneUpTo = (most: number) => z._default(wholeNumber({ minimum: 0, maximum: most, default: 0 }), 0);

/** Seconds of an interval; clamped to `most`. */
export const seconds = (least: number, most: number) => wholeNumber({ minimum: least, maximum: most });

interface Limits {
  readonly minimum: number;
  /** What is larger counts as this. */
  readonly maximum?: number;
  /** What the endpoint takes when it is not given; the document says it. */
  readonly default?: number;
}

function wholeNumber(limits: Limits) {
  const { minimum, maximum = Number.MAX_SAFE_INTEGER } = limits;
  const rule = `must be a whole number, at least ${minimum}`;
  const isRight = (text: string) => /^\d{1,15}$/.test(text) && Number(text) >= minimum;
  return z.pipe(
    z.string().check(z.refine(isRight, { error: rule }), z.meta({ ...limits, type: "integer" })),
    z.transform((text: string) => Math.min(Number(text), maximum)),
  );
}

/** One of some words, exactly as written. */
export const oneOf = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, {
    error: ({ input }) =>
      `must be one of ${words.join(", ")}${typeof input === "string" ? didYouMean(input, words) : ""}`,
  });

const WORDS = ["true", "false"] as const;
const isTrue = z.transform((word: (typeof WORDS)[number]) => word === "true");

/** A switch in the query: `true` or `false`. */
export const flag = () => z._default(z.pipe(oneOf(WORDS).check(z.meta({ default: "false" })), isTrue), false);

/** The same where leaving it out says neither. */
export const optionalFlag = () => z.optional(z.pipe(oneOf(WORDS), isTrue));

/** Text to filter by: of one line, for what is done by it may be audited. */
export const filterText = () => valueText().check(z.refine(isOneLine, { error: ONE_LINE }));

/** A value of a row to filter by, with whatever control characters it has. */
export const valueText = () =>
  z.string({ error: "must be a text" }).check(
    z.minLength(1, { error: "must not be empty; leave it out to filter nothing" }),
    z.maxLength(255, { error: "must be at most 255 characters" }),
    z.refine((text) => !text.includes("\u0000"), { error: "must not hold a NUL character", abort: true }),
  );

/** The query's parameters by name; a repeated one is refused, for it is unclear which is meant. */
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

/**
 * Names of the query that the schema does not have, each with the nearest one that it has, as details of a refusal. None
 * where the schema is no object.
 */
export function unknownNames(schema: z.ZodMiniType | undefined, query: object): readonly FailureDetail[] {
  const { shape = {} } = (schema?._zod.def ?? {}) as { readonly shape?: object };
  const known = Object.keys(shape).filter((name) => name !== "body");
  return Object.keys(query)
    .filter((name) => !known.includes(name))
    .map((path) => {
      const meant = nearest(path, known);
      return { path, message: meant ? `is no parameter of this endpoint; the nearest is ${meant}` : NO_PARAMETERS };
    });
}

const NO_PARAMETERS = "is no parameter of this endpoint, which takes none";

/** What the schema makes of the input, or VALIDATION_ERROR with every bad part by its path. */
export function validate<Input>(schema: z.ZodMiniType<Input>, given: unknown): Input {
  const judged = schema.safeParse(given);
  if (judged.success) return judged.data;
  throw invalid(judged.error.issues.map(({ path, message }) => ({ path: detailPath(path), message })));
}

/** Details that one refusal lists; the rest is given as a number. */
const MAX_DETAILS = 50;

/** VALIDATION_ERROR that lists everything to correct. */
export function invalid(details: readonly FailureDetail[]): Failure {
  const [first] = details;
  const message = first ? `${first.path}: ${first.message}` : "the request is not valid";
  return new Failure("VALIDATION_ERROR", details.length > 1 ? `${message} (and ${details.length - 1} more)` : message, {
    details: details.slice(0, MAX_DETAILS),
  });
}
