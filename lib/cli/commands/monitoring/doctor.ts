import type { ListMappingStatesData } from "bridge/api";
import type { Context } from "../../context.ts";
import { CommandFailure, type ExitKind } from "../../failure.ts";
import { type MappingState, NEEDS_SOMEBODY } from "../../find.ts";
import { harmless } from "../../width.ts";
import { type Checked, type Finding, reportChecked } from "../connect.ts";
import { monitoringFindings } from "./doctor-monitoring.ts";

type Findings = readonly Finding[];

/** Clocks that differ by more make tokens and schedules fail in confusing ways. */
const MAX_CLOCK_SECONDS = 30;

/** Looks at everything between this machine and the org, and says what to do for each finding. */
export async function doctor(context: Context): Promise<void> {
  const api = context.api();
  const parts = await Promise.all([
    service(context),
    look(() => api.post<Checked>("/connections/postgres/test"), "postgres"),
    look(() => api.post<Checked>("/connections/salesforce/test"), "salesforce"),
    mappingFindings(context),
    monitoringFindings(api, new Date()),
  ]);
  const findings = parts.flat();
  reportChecked(context, { ok: findings.every(({ ok }) => ok), findings });
}

async function service(context: Context): Promise<Findings> {
  const { url, because } = context.target();
  const response = await fetch(`${url}/openapi.json`, { method: "GET", signal: AbortSignal.timeout(10_000) }).catch(
    (cause: unknown) => {
      throw new CommandFailure("unreachable", `${url} (${because}) cannot be reached`, { cause });
    },
  );
  await response.body?.cancel();
  const answered = new Date(response.headers.get("date") ?? Number.NaN).getTime();
  const apart = Math.abs(answered - Date.now()) / 1000;
  return [
    finding("service", response.ok, `the service answers at ${url}`, "is this the address of a Bridge instance?"),
    finding(
      "clock",
      Number.isNaN(apart) || apart <= MAX_CLOCK_SECONDS,
      `this machine's clock and the service's differ by ${Number.isNaN(apart) ? "an unknown time" : `${Math.round(apart)} s`}`,
      "set this machine's clock by NTP",
    ),
  ];
}

async function look(ask: () => Promise<{ readonly data: Checked }>, check: string): Promise<Findings> {
  try {
    return (await ask()).data.findings;
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.kind === "unreachable") throw error;
    return [finding(check, false, error.message, remedyFor(error.kind, check))];
  }
}

/** Only what is not connected yet is fixed by connecting it. */
function remedyFor(kind: ExitKind, check: string): string {
  if (kind === "refused") return "look again with a token that has the scope admin: bridge login";
  if (kind === "conflict") return `connect it with: bridge connect ${check}`;
  return "run it again; if it stays, report it to the operator";
}

async function mappingFindings(context: Context): Promise<Findings> {
  const { data } = await context.api().get<ListMappingStatesData>("/monitoring/mappings");
  return [...pauseOf(data), ...data.flatMap(findingsOn)];
}

/** One that is active and paused is so with all of its workspace. */
function pauseOf(mappings: ListMappingStatesData): Findings {
  const why = mappings.find(({ active, state }) => active && state === "paused")?.reason;
  if (!why) return [];
  const end = why.lastIndexOf("; "); // before it may be a person's words
  return [{ check: "pause", ok: true, message: harmless(why.slice(0, end)), remedy: harmless(why.slice(end + 2)) }];
}

function findingsOn({ sf_object, state, failure, reason, notices = [] }: MappingState): Findings {
  const isBroken = NEEDS_SOMEBODY.has(state);
  // The engine is broken after some cycles in a row; before that, the first one is shown.
  const isPaused = state === "paused"; // why is a finding of its own
  const isWhy = isBroken || state === "sparing_calls" || state === "deletes_held";
  const why = reason === null || isPaused ? "" : isWhy ? `: ${reason}` : `, with an error: ${reason}`;
  const isRestored = failure === "database_rewound" || failure === "config_behind";
  const see = isRestored
    ? `bridge restore plan, then bridge restore accept ${sf_object}`
    : `bridge mapping show ${sf_object}`;
  const remedy = REMEDIES[state] ?? `see: ${see}`;
  return [
    finding("mapping", !isBroken && (isPaused || reason === null), `${sf_object} is ${state}${why}`, remedy),
    ...notices.map((notice) => finding("mapping", false, `${sf_object}: ${notice.message}`, notice.remedy)),
  ];
}

const REMEDIES: Readonly<Record<string, string>> = {
  sparing_calls:
    "see: bridge budget; slow the org's other clients down, raise its limit, or raise sf_polling_seconds of mappings",
  migration_pending: "run the migration that this prints: bridge schema propose",
};

function finding(check: string, ok: boolean, message: string, remedy: string): Finding {
  return { check, ok, message, remedy: ok ? null : remedy };
}
