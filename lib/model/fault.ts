/** An unexpected error with its causes, as one piece of a log line. */
export function describeFault(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? {} : { cause: describeFault(error.cause) };
  return { name: error.name, message: error.message, stack: error.stack, ...cause };
}

/**
 * By what a driver, a client or Node names an error; empty where it does not. A failure to connect to several addresses
 * carries one error for each.
 */
export function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
