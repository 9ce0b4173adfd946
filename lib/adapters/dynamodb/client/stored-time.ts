import * as z from "zod/mini";

const finite = <At extends string | number>() =>
  z.pipe(
    z.transform((at: At) => new Date(at)),
    z.date(),
  );

/** A time as items keep it, ISO 8601; `z.iso.datetime` would make each bundle two kilobytes larger. */
export const storedTime = z.pipe(z.string(), finite<string>());

/** The same in epoch milliseconds. */
export const storedMilliseconds = z.pipe(z.number(), finite<number>());

/** The same where an item may lack it. */
export const optionalTime = z._default(z.nullable(storedTime), null);
