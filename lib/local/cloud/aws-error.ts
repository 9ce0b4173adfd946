/** A refusal as the AWS SDK expects it: its name becomes the name of the exception that the caller sees. */
export class AwsError extends Error {
  override readonly name: string;
  readonly status: number;
  /** The older name that SQS sends beside the new one. */
  readonly queryCode: string;

  constructor(name: string, message: string, { status = 400, queryCode = name } = {}) {
    super(message);
    this.name = name;
    this.status = status;
    this.queryCode = queryCode;
  }
}
