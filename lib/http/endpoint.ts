import type * as z from "zod/mini";
import type { SealedWorkspace, TokenRecord } from "../access/ports.ts";
import type { ROUTES, RouteName } from "./routes.ts";

type Parameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Parameters<Rest>
  : never;

/** The parts of a route's path by name: `{ workspace_id, mapping_id }`. */
export type PathOf<Name extends RouteName> = Readonly<Record<Parameters<(typeof ROUTES)[Name]["path"]>, string>>;

interface Found<Name extends RouteName> {
  readonly path: PathOf<Name>;
  readonly workspace: SealedWorkspace;
}

/** What `run` is asked: everything checked, the caller let in. */
export interface Asked<Name extends RouteName, Input, Resource> extends Found<Name> {
  readonly input: Input;
  /** What `find` gave. */
  readonly resource: Resource;
  /** The token owner's e-mail address, for the audit log. */
  readonly actor: string;
  /** The token that asks. */
  readonly token: TokenRecord;
  /** The If-Match header: the version that a change is meant for; null when the caller takes any. */
  readonly ifMatch: string | null;
  /** The contract's {base_url} as the caller wrote it, without the scheme; null where nothing says it. */
  readonly ownAddress: string | null;
  readonly at: Date;
}

/**
 * One row of the endpoint table, answered. `input` is the schema of what a caller may say: the query's parameters by
 * name, and the parsed body as `body` on routes that have one. `find` looks up the resource that the path names, before
 * the input is judged. `run` gives the `data` of the answer, a `Paged`, a `Tagged`
 * or a `Plain`. `output` is the schema of that `data`, of one row for a `Paged`; it describes and is kept by tests. What
 * its properties mean is said in the API's description alone (lib/infra/describe-api/descriptions.ts).
 */
export interface Endpoint<Name extends RouteName, Input, Resource> {
  readonly route: Name;
  /** One sentence for the API's own description. */
  readonly summary?: string;
  /**
   * It reads stored state alone, as monitors do again and again: its view of the workspace may be two seconds old, and
   * a request is counted while it is answered.
   */
  readonly onlyReads?: true;
  readonly input?: z.ZodMiniType<Input>;
  readonly output?: z.ZodMiniType;
  readonly find?: (asked: Found<Name>) => Promise<Resource>;
  readonly run: (asked: Asked<Name, Input, Resource>) => Promise<unknown>;
}

/** What an endpoint without a token may know of the request; its body is not among it. */
export interface OpenRequest {
  /** A part of the path by its name. */
  readonly path: (name: string) => string;
  /** A parameter of the query, the first of its name. */
  readonly query: (name: string) => string | undefined;
  /** The caller's, as the gateway saw it. */
  readonly address: string;
  readonly at: Date;
}

/** An endpoint that asks for no token. */
export interface OpenEndpoint {
  /** One sentence for the API's own description. */
  readonly summary?: string;
  readonly run: (asked: OpenRequest) => Promise<unknown>;
}

/** What an endpoint says of itself. */
export interface Described {
  readonly summary?: string;
  readonly input?: z.ZodMiniType;
  readonly output?: z.ZodMiniType;
}
