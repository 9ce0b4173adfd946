import * as z from "zod/mini";
import { DEPLOYMENT, pauseOf } from "../../lib/model/workspace/pause.ts";
import { pauseChange, viewWorkspace, workspaceView } from "../../lib/settings/workspaces/workspace.ts";
import { announcePauses, switchPause as switchTo } from "../../lib/sync/beat/pauses.ts";
import { onLambda } from "../invocation/on-lambda.ts";
import { pauseServices } from "../services/pause-services.ts";

export const handler = onLambda({
  route: "switch-pause",
  summary:
    "Pauses the workspace, or ends its pause; what is so already stays as it is. While it is paused, calls under way are finished and nothing else is pulled, sent, compared or loaded; changes of rows are still captured, and all of it continues after the pause. Mappings stay active; mapping.deactivated and mapping.activated are announced for each. With an operator's token, in the workspace `deployment`, it is every workspace; `pause` in the answer says what holds this one then.",
  input: z.object({ body: pauseChange }),
  output: workspaceView,
  run: async ({ input, workspace, actor, at }) => {
    const services = pauseServices();
    const { paused, reason = null } = input.body;
    const switched = await switchTo(services, workspace.id, { paused, at, by: actor, reason });
    const isAll = workspace.id === DEPLOYMENT; // the minute sweep announces it
    if (!isAll) await announcePauses(services, [switched]);
    const all = isAll ? null : await services.workspaces.find(DEPLOYMENT);
    return viewWorkspace(switched, pauseOf(switched.pauseSwitch, all?.pauseSwitch ?? null));
  },
});
