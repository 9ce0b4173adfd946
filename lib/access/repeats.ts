/** The state of a request that names itself (`Idempotency-Key`): the first of its name is carried out, once. */
export type Beginning =
  /** The first request; the others wait until it is kept or released, at most a minute. */
  | { readonly state: "first" }
  /** The first one is still being carried out. */
  | { readonly state: "running" }
  /** The name was given to another request. */
  | { readonly state: "other" }
  | { readonly state: "done"; readonly answer: KeptAnswer };

/** An answer as it is given again. */
export interface KeptAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request by its name. */
export interface NamedRequest {
  readonly workspaceId: string;
  readonly tokenId: string;
  readonly key: string;
  /** Of everything that was asked: the same name with another one is another request. */
  readonly fingerprint: string;
}

/** Keeps answers to named requests for 24 hours. */
export interface Repeats {
  begin(request: NamedRequest, at: Date): Promise<Beginning>;
  /** Keeps the answer; one that is too large is not kept, and the request may then be carried out again. */
  keep(request: NamedRequest, answer: KeptAnswer, at: Date): Promise<void>;
  /** Forgets a request that was refused or failed, so that it may be tried again. */
  release(request: NamedRequest): Promise<void>;
}
