/** An unexpected error with its causes, as one piece of a log line. */
export function describeFault(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? {} : { cause: describeFault(error.cause) };
  return { name: error.name, message: error.message, stack: error.stack, ...cause };
}
