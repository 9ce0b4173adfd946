import type {
  ListConflictsData,
  ListInboundErrorsData,
  ReadBudgetData,
  ReadDoorbellData,
  ReadHealthData,
} from "bridge/api";
import type { Api } from "../../api.ts";
import { CommandFailure } from "../../failure.ts";
import { harmless } from "../../width.ts";
import { count } from "../../words.ts";
import type { Finding } from "../connect.ts";
import { remedyOf } from "../doorbell.ts";
import { isNearlySpent } from "./monitoring.ts";

/** What in monitoring needs the operator; what cannot be read now is a finding as well. */
export async function monitoringFindings(api: Api, now: Date): Promise<readonly Finding[]> {
  const looks = { schema: upgrade, inbound_errors: inboundErrors, conflicts, calls, doorbell: doorbells };
  const found = Object.entries(looks).map(([check, look]) => look(api, now).catch((error) => notSeen(check, error)));
  return (await Promise.all(found)).flat();
}

/** Good: nothing to do. Warning: read it. Bad: something does not work until the operator acts. */
type Tone = "good" | "warning" | "bad";

const finding = (check: string, tone: Tone, message: string, remedy: string): Finding => ({
  check,
  ok: tone !== "bad",
  message: harmless(message),
  remedy: tone === "good" ? null : remedy,
});

const NAMES: Readonly<Record<string, string>> = {
  inbound_errors: "inbound errors",
  calls: "the org's calls",
  doorbell: "doorbells",
};

function notSeen(check: string, error: unknown): readonly Finding[] {
  if (!(error instanceof CommandFailure) || error.kind === "unreachable") throw error;
  const remedy =
    error.kind === "refused"
      ? "sign in with a token that has the scope admin, then run it again: bridge login"
      : "correct the problems above, then run it again";
  return [finding(check, "warning", `${NAMES[check] ?? check} could not be checked: ${error.message}`, remedy)];
}

/** Nothing is said of a schema that is up to date. */
async function upgrade(api: Api): Promise<readonly Finding[]> {
  const { data } = await api.get<ReadHealthData>("/health");
  const remedy = "Bridge tries again each minute: wait, or correct the reason if there is one";
  return data.sync.upgrade === undefined ? [] : [finding("schema", "warning", data.sync.upgrade, remedy)];
}

async function inboundErrors(api: Api): Promise<readonly Finding[]> {
  const { data, meta } = await api.get<readonly ListInboundErrorsData[]>("/monitoring/inbound-errors", {
    limit: 1,
  });
  const total = meta?.total ?? data.length;
  if (total === 0) return [finding("inbound_errors", "good", "every record that was read has become a row", "")];
  const message = `${count(total, "record", "records")} could not become rows, for example: ${data[0]?.error}`;
  return [finding("inbound_errors", "bad", message, "see: bridge inbound-errors")];
}

/** Conflicts that one check counts. */
const PAGE = 200;

const DAY_MILLISECONDS = 24 * 60 * 60 * 1000;

async function conflicts(api: Api, now: Date): Promise<readonly Finding[]> {
  const { data } = await api.get<readonly ListConflictsData[]>("/monitoring/conflicts", { limit: PAGE });
  const recent = data.filter(({ at }) => now.getTime() - new Date(at).getTime() < DAY_MILLISECONDS).length;
  if (recent === 0) return [finding("conflicts", "good", "no conflict in the last 24 hours", "")];
  const many = recent === PAGE ? `${PAGE} or more conflicts` : count(recent, "conflict", "conflicts");
  const remedy = "see: bridge conflicts; to choose who wins: bridge mapping update MAPPING --policy POLICY";
  return [finding("conflicts", "warning", `${many} in the last 24 hours: one side's value was discarded`, remedy)];
}

const PACES: Readonly<Record<ReadBudgetData["pace"], readonly [Tone, string]>> = {
  normal: ["good", "pulls and pushes run as configured"],
  stretched: ["warning", "pulls are further apart, so that Bridge's share of the org's calls lasts for the day"],
  waiting: ["bad", "rows wait, because Bridge's share of the org's calls is spent"],
};

async function calls(api: Api): Promise<readonly Finding[]> {
  const { data } = await api.get<ReadBudgetData>("/monitoring/budget");
  const { calls_limit: limit, calls_used: used, forecast_calls_per_day: forecast, pace } = data;
  const { allowed_calls: allowed, own_calls: own } = data;
  const [tone, says] =
    pace === "normal" && isNearlySpent(data)
      ? (["warning", `Bridge has made ${own} of the ${allowed} calls of its share`] as const)
      : PACES[pace];
  const slower = "raise sf_polling_seconds of mappings (bridge mapping update MAPPING --interval), or the org's limit";
  const isTooMuch = limit !== null && forecast > limit;
  const cost = `the mappings cost ${forecast} API calls a day while nothing changes`;
  const most = limit === null ? "" : `; the org allows ${limit}`;
  return [
    finding(
      "calls",
      tone,
      `${says}${used === null ? "" : `: ${used} used in 24 hours`}`,
      `see: bridge budget; ${slower}`,
    ),
    finding("forecast", isTooMuch ? "warning" : "good", `${cost}${most}`, slower),
  ];
}

/** Nothing is said of doorbells where none is switched on. */
async function doorbells(api: Api): Promise<readonly Finding[]> {
  const { data } = await api.get<ReadDoorbellData>("/doorbell");
  const remedy = remedyOf(data);
  return data.mappings.flatMap(({ sf_object, state, since }) => {
    if (state === "off") return [];
    const says = `the doorbell of ${sf_object} is ${state} since ${since}`;
    return [finding("doorbell", state === "alive" && !data.url_outdated ? "good" : "warning", says, remedy)];
  });
}
