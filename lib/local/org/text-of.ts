/** A value of a request's JSON as text. Of an object that is its JSON: a client may have sent a `toString`. */
export const textOf = (value: unknown): string =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
