/** The operators' own workspace: its tokens open the fleet, and a pause of it is a pause of every workspace. */
export const DEPLOYMENT = "deployment";

/** The last time that a person paused or resumed a workspace. */
export interface PauseSwitch {
  readonly paused: boolean;
  readonly at: Date;
  /** An e-mail address, or `system`. */
  readonly by: string;
  readonly reason: string | null;
}

/** Why nothing moves in a workspace. Its own pause and the deployment's are kept apart: each is ended separately. */
export interface Pause extends PauseSwitch {
  readonly scope: "workspace" | "deployment";
}

/** The pause that holds a workspace, of two the one that came first; null: none does. */
export function pauseOf(own: PauseSwitch | null, deployment: PauseSwitch | null): Pause | null {
  const pauses = [own && { ...own, scope: "workspace" as const }, deployment && { ...deployment, scope: DEPLOYMENT }];
  const [first] = pauses.filter((one) => one?.paused).toSorted((one, other) => Number(one?.at) - Number(other?.at));
  return (first as Pause | undefined) ?? null;
}

/** A pause, as shown to users: who, since when, why, and how it ends. */
export function reportPause({ at, by, reason, scope }: Pause): string {
  const [what, remedy] =
    scope === "workspace"
      ? ["the workspace", "resume it with: bridge resume"]
      : ["the whole deployment", "an operator resumes it with: bridge resume --deployment"];
  return `${what} is paused since ${at.toISOString()} by ${by}${reason === null ? "" : ` (${reason})`}; ${remedy}`;
}
