/** A service that speaks the AWS REST JSON protocol: the path says what is meant. */
export interface RestService {
  readonly signingName: string;
  /** Whether a path is this service's. */
  answers(path: string): boolean;
  /** Does what the request asks. Throws an AwsError to refuse. */
  call(method: string, url: URL, body: unknown): unknown;
}
