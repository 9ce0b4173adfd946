import type { RouteName } from "../../../lib/http/routes.ts";
import { call, type Request, type Response } from "./call.ts";

/** Asks an endpoint by the name of its row in the route table. */
export async function ask(route: RouteName, request: Request = {}): Promise<Response> {
  const { handler } = (await import(`../../../functions/api/${route}.ts`)) as { handler: Parameters<typeof call>[0] };
  return call(handler, route, request);
}

/** The same in a workspace with its token, unless the request has another; which workspace, each request finds out. */
export const askingIn =
  (workspace: () => { readonly id: string; readonly token: string }) =>
  (route: RouteName, { path = {}, ...request }: Request = {}): Promise<Response> => {
    const { id, token } = workspace();
    return ask(route, { token, ...request, path: { workspace_id: id, ...path } });
  };
