import type { ReadBudgetData, ReadHealthData, ReadWorkspaceData } from "bridge/api";
import { Api } from "../../api.ts";
import type { Context } from "../../context.ts";
import { CommandFailure } from "../../failure.ts";
import { localInstance, readProfiles, type Target } from "../../profiles.ts";
import { harmless } from "../../width.ts";
import type { Finding } from "../connect.ts";

/** What all workspaces of an org together leave to its other clients, as one does by default. */
const SHARE_PERCENT = 80;

/**
 * Workspaces of this deployment that spend the calls of one org together, among those that this user is signed in to:
 * the service keeps the org of each sealed. Nothing is found where the workspace is alone.
 */
export async function sharedOrgFindings(context: Context, orgId: string): Promise<readonly Finding[]> {
  if (orgId === "") return [];
  const own = context.target();
  const others = signedInTo(context).filter((one) => sameUrl(one, own) && one.workspaceId !== own.workspaceId);
  const byId = new Map(others.map((one) => [one.workspaceId, one]));
  const apiOf = (target: Target) => new Api(target, context.terminal.interrupted);
  const asked = await Promise.all([...byId.values()].map((other) => spenderOf(apiOf(other), orgId)));
  const found = asked.filter((one) => one !== null);
  const self = found.length === 0 ? null : await spenderOf(context.api(), orgId);
  return self === null ? [] : [sharedBy([self, ...found])];
}

const signedInTo = ({ terminal }: Context): readonly Target[] => [
  ...Object.values(readProfiles(terminal.env).profiles),
  ...[localInstance(terminal)].filter((one) => one !== null),
];

const sameUrl = (one: Target, other: Target): boolean => new URL(one.url).href === new URL(other.url).href;

interface Spender {
  readonly name: string;
  readonly budget: ReadBudgetData;
}

/** Null: it has another org, or does not say with this token. */
async function spenderOf(api: Api, orgId: string): Promise<Spender | null> {
  try {
    const { data: health } = await api.get<ReadHealthData>("/health");
    if (health.sf.org_id?.slice(0, 15) !== orgId.slice(0, 15)) return null;
    const [{ data: workspace }, { data: budget }] = await Promise.all([
      api.get<ReadWorkspaceData>(""),
      api.get<ReadBudgetData>("/monitoring/budget"),
    ]);
    return { name: `${workspace.name} (${workspace.id})`, budget };
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return null;
  }
}

function sharedBy(spenders: readonly Spender[]): Finding {
  const sum = (of: (budget: ReadBudgetData) => number) => spenders.reduce((all, { budget }) => all + of(budget), 0);
  const limit = spenders.find(({ budget }) => budget.calls_limit !== null)?.budget.calls_limit;
  const isShared = Math.round(100 * sum(({ calls_share }) => calls_share)) <= SHARE_PERCENT;
  const names = spenders.map(({ name }) => name).join(" and ");
  const together = `${sum(({ forecast_calls_per_day }) => forecast_calls_per_day)} a day while nothing changes`;
  const allowed = limit ? `; the org allows ${limit}` : "";
  return {
    check: "shared_org",
    ok: true,
    message: harmless(`the workspaces ${names} spend the calls of one org: together ${together}${allowed}`),
    remedy: isShared
      ? null
      : `give each its share: bridge budget --share ${Math.floor(SHARE_PERCENT / spenders.length)}%`,
  };
}
