/** What Salesforce says no with: a code, its message and the fields concerned (reference 8). */
export class Refusal extends Error {
  readonly code: string;
  readonly fields: readonly string[];
  /** The HTTP status when it refuses a whole REST request. */
  readonly status: number;

  constructor(
    code: string,
    message: string,
    { fields = [], status = 400 }: { fields?: readonly string[]; status?: number } = {},
  ) {
    super(message);
    this.code = code;
    this.fields = fields;
    this.status = status;
  }
}

/** REST's answer to a path, object or record that is not there. */
export function notFound(message = "The requested resource does not exist"): Refusal {
  return new Refusal("NOT_FOUND", message, { status: 404 });
}
