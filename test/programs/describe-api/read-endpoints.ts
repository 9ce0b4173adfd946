import type { Described } from "../../../lib/http/endpoint.ts";
import { ROUTES, type RouteName } from "../../../lib/http/routes.ts";
import { answerWhole } from "../../support/doubles/answer-whole.ts";

/** Every endpoint of the table that has its function, by route: for what describes the API, never for what answers. */
export async function readEndpoints(): Promise<ReadonlyMap<RouteName, Described>> {
  // Lambda's runtime brings this; a function that streams asks for it when it is loaded.
  if (!("streamifyResponse" in (Reflect.get(globalThis, "awslambda") ?? {}))) answerWhole();
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
