import type { RouteName } from "../../../lib/http/routes.ts";
import { tokenFor } from "../worlds/workspace.ts";
import { call, type Request, type Response } from "./call.ts";

type Handler = Parameters<typeof call>[0];

/** A workspace's API, asked with an administrator's token. */
export interface ApiClient {
  ask(handler: Handler, route: RouteName, request?: Request): Promise<Response>;
}

export async function apiClient(workspaceId: string): Promise<ApiClient> {
  const token = await tokenFor(workspaceId);
  return {
    ask: (handler, route, request = {}) =>
      call(handler, route, { token, ...request, path: { workspace_id: workspaceId, ...request.path } }),
  };
}
