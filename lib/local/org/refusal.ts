/** What Salesforce says no with: a code, its message and the fields concerned (salesforce-facts 8). */
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

/** The answer to an object that the org does not have (salesforce-facts 8). */
export function unsupportedType(name: string): Refusal {
  const advice =
    "If you are attempting to use a custom object, be sure to append the '__c' after the entity name. Please reference your WSDL or the describe call for the appropriate names.";
  return new Refusal("INVALID_TYPE", `sObject type '${name}' is not supported. ${advice}`);
}
