import type { RestMethod } from "./rest-routes.ts";

/** A method that answers a request, with the parts of the path that its resource names, exactly as they were sent. */
export interface RouteMatch {
  readonly method: RestMethod;
  readonly pathParameters: Readonly<Record<string, string>> | null;
}

/** Finds the method for a request, as API Gateway does; undefined when there is none. */
export type MatchRoute = (httpMethod: string, path: string) => RouteMatch | undefined;

interface Node {
  readonly fixed: Map<string, Node>;
  /** `{name}` */
  parameter?: { readonly name: string; readonly node: Node };
  /** `{name+}`: the rest of the path */
  greedy?: { readonly name: string; readonly node: Node };
  readonly methods: Map<string, RestMethod>;
}

const ANSWERED_BY_ANY = new Set(["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"]);

/** The order is the gateway's: fixed parts before `{name}` before `{name+}`, and the method itself before ANY. */
export function createMatcher(methods: readonly RestMethod[]): MatchRoute {
  const root = emptyNode();
  for (const method of methods) nodeAt(root, partsOf(method.resourcePath)).methods.set(method.httpMethod, method);
  return (httpMethod, path) => {
    const found = find(root, partsOf(path), []);
    const method =
      found?.node.methods.get(httpMethod) ??
      (ANSWERED_BY_ANY.has(httpMethod) ? found?.node.methods.get("ANY") : undefined);
    if (!found || !method) return undefined;
    return { method, pathParameters: found.values.length === 0 ? null : Object.fromEntries(found.values) };
  };
}

type Values = readonly (readonly [name: string, value: string])[];

function find(node: Node, parts: readonly string[], values: Values): { node: Node; values: Values } | undefined {
  const [part, ...rest] = parts;
  if (part === undefined) return node.methods.size > 0 ? { node, values } : undefined;
  const { parameter, greedy } = node;
  const fixed = node.fixed.get(part);
  return (
    (fixed && find(fixed, rest, values)) ??
    (parameter && part !== "" ? find(parameter.node, rest, [...values, [parameter.name, part]]) : undefined) ??
    (greedy ? { node: greedy.node, values: [...values, [greedy.name, parts.join("/")]] } : undefined)
  );
}

function nodeAt(node: Node, [part, ...rest]: readonly string[]): Node {
  if (part === undefined) return node;
  return nodeAt(childOf(node, part), rest);
}

function childOf(node: Node, part: string): Node {
  const [, name, greedy] = /^\{(.+?)(\+?)\}$/.exec(part) ?? [];
  if (name === undefined) return present(node.fixed, part);
  const kind = greedy ? "greedy" : "parameter";
  node[kind] ??= { name, node: emptyNode() };
  return node[kind].node;
}

function present(children: Map<string, Node>, part: string): Node {
  const child = children.get(part) ?? emptyNode();
  children.set(part, child);
  return child;
}

const emptyNode = (): Node => ({ fixed: new Map(), methods: new Map() });

/** Several slashes before the path, and one behind it, are as if there were one, and none. */
function partsOf(path: string): string[] {
  const named = path.replace(/^\/+/, "").replace(/\/$/, "");
  return named === "" ? [] : named.split("/");
}
