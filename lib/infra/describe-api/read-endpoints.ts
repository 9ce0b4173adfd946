import type { Described } from "../../http/endpoint.ts";
import { ROUTES, type RouteName } from "../../http/routes.ts";

/** Every endpoint of the table that has its function, by route: for what describes the API, never for what answers. */
export async function readEndpoints(): Promise<ReadonlyMap<RouteName, Described>> {
  // Lambda's runtime brings this; a function that streams asks for it when it is loaded.
  if (!("awslambda" in globalThis)) Object.assign(globalThis, { awslambda: { streamifyResponse: asItIs } });
  const names = Object.keys(ROUTES) as RouteName[];
  const found = await Promise.all(
    names.map(async (name) => {
      const { handler } = (await import(`../../../functions/api/${name}.ts`)) as {
        readonly handler: { readonly endpoint: Described };
      };
      return [name, handler.endpoint] as const;
    }),
  );
  return new Map(found);
}

const asItIs = <Handler>(handler: Handler): Handler => handler;
