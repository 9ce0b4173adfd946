import * as z from "zod/mini";
import { endpoint } from "../../lib/http/endpoint.ts";
import {
  renameWorkspace as rename,
  viewWorkspace,
  workspaceChange,
  workspaceView,
} from "../../lib/settings/workspace.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { workspaces } from "../services/composition.ts";

/** Gives the workspace another name; its id stays. */
export const renameWorkspace = endpoint({
  route: "rename-workspace",
  summary: "Gives the workspace another name, which readers see within seconds; its id stays.",
  input: z.object({ body: workspaceChange }),
  output: workspaceView,
  services: () => ({ workspaces: workspaces() }),
  run: async ({ input, workspace, services, actor, at }) =>
    viewWorkspace(await rename(services.workspaces, { workspace, name: input.body.name, actor, at })),
});

export const handler = onLambda(renameWorkspace);
