import * as z from "zod/mini";

/** A time as items keep it, ISO 8601; `z.iso.datetime` would make each bundle two kilobytes larger. */
export const storedTime = z.pipe(
  z.string(),
  z.transform((text: string) => new Date(text)),
);

/** The same where an item may lack it. */
export const optionalTime = z._default(z.nullable(storedTime), null);
