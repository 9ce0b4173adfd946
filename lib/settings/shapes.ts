import * as z from "zod/mini";
import { detailPath } from "../model/mapping/detail-path.ts";
import { isOneLine, ONE_LINE } from "../model/one-line.ts";

/** A time as the API writes it: ISO 8601, UTC. */
export const timestamp = () => z.iso.datetime();

/** A time that may not have come yet. */
export const nullableTimestamp = () => z.nullable(timestamp());

/** A text that a person gave, one line of 1 to `longest` characters. */
export const line = (longest: number) =>
  z
    .string({ error: "must be a text" })
    .check(
      z.trim(),
      z.minLength(1, { error: "must not be empty" }),
      z.maxLength(longest, { error: `must be at most ${longest} characters` }),
      z.refine(isOneLine, { error: ONE_LINE }),
    );

/** The body of a request: an object whose unknown keys are refused, so that a misspelt setting is not lost unseen. */
export const body = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `has no ${detailPath([issue.keys.map((key) => JSON.stringify(key)).join(", ")])}`
        : "must be a JSON object",
  });
