import * as z from "zod/mini";
import {
  renameWorkspace as rename,
  viewWorkspace,
  workspaceChange,
  workspaceView,
} from "../../lib/settings/workspaces/workspace.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { pauses, workspaces } from "../services/composition.ts";

export const handler = onLambda({
  route: "rename-workspace",
  summary: "Gives the workspace another name, which readers see within seconds; its id stays.",
  input: z.object({ body: workspaceChange }),
  output: workspaceView,
  run: async ({ input, workspace, actor, at }) =>
    viewWorkspace(
      await rename(workspaces(), { workspace, name: input.body.name, actor, at }),
      await pauses().find(workspace.id),
    ),
});
