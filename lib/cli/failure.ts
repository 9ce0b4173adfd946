/** How the command line ends, by the kind of what happened; scripts may rely on the numbers. */
export const EXIT = {
  done: 0,
  /** A fault of the service or of the command line. */
  fault: 1,
  /** The command was typed wrong. */
  usage: 2,
  /** No session, and no local instance runs. */
  notSignedIn: 3,
  /** The token is not valid, or allows too little. */
  refused: 4,
  notFound: 5,
  /** A value is not allowed, whether the command line or the service finds it. */
  invalid: 6,
  /** It contradicts what is there: the name is in use, or it was changed meanwhile. */
  conflict: 7,
  rateLimited: 8,
  unreachable: 9,
  /** The command worked and what it looked at is not well (health, doctor, drift, a failed test). */
  unwell: 10,
  interrupted: 130,
} as const;

export type ExitKind = keyof typeof EXIT;

/** What a user sees when a command fails. */
export class CommandFailure extends Error {
  readonly kind: ExitKind;
  /** The API's code when the API refused, else null. */
  readonly code: string | null;
  readonly details: readonly { readonly path: string; readonly message: string }[];
  /** Where the service says what the code means, and what to do. */
  readonly help: string | null;

  constructor(
    kind: ExitKind,
    message: string,
    more: {
      readonly code?: string;
      readonly details?: CommandFailure["details"];
      readonly help?: string;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: more.cause });
    this.name = "CommandFailure";
    this.kind = kind;
    this.code = more.code ?? null;
    this.details = more.details ?? [];
    this.help = more.help ?? null;
  }
}

/** The exit kind of a refusal by its HTTP status. */
export function kindOf(status: number): ExitKind {
  if (status === 401 || status === 403) return "refused";
  if (status === 404 || status === 405) return "notFound";
  if (status === 409 || status === 412) return "conflict";
  if (status === 429) return "rateLimited";
  return status >= 500 ? "fault" : "invalid";
}
