import type { ListActivityData, ListMappingStatesData, ReadChangeData, ReadHealthData } from "bridge/api";
import type { Api } from "../../api.ts";
import { type Context, isSet } from "../../context.ts";
import { CommandFailure, type ExitKind } from "../../failure.ts";
import { type MappingState, NEEDS_SOMEBODY } from "../../find.ts";
import { type Incident, linesOf } from "../../incidents.ts";
import { whyStopped } from "../../own-machine.ts";
import { harmless } from "../../width.ts";
import { count } from "../../words.ts";
import type { Checked, Finding } from "../connect.ts";
import { monitoringFindings } from "./doctor-monitoring.ts";
import { sharedOrgFindings } from "./shared-org.ts";

type Findings = readonly Finding[];

/** Clocks that differ by more make tokens and schedules fail in confusing ways. */
const MAX_CLOCK_SECONDS = 30;

/** Looks at everything between this machine and the org, and says what to do for each finding, the worst first. */
export async function doctor(context: Context): Promise<void> {
  const api = context.api();
  const { data: mappings } = await service(context).then(() => api.get<ListMappingStatesData>("/monitoring/mappings"));
  const [clock, health, postgres, salesforce, monitoring] = await Promise.all([
    clockFinding(context),
    api.get<ReadHealthData>("/health", { incidents: true }),
    look(() => api.post<Checked>("/connections/postgres/test"), "postgres"),
    look(() => api.post<Checked>("/connections/salesforce/test"), "salesforce"),
    monitoringFindings(api, new Date()),
  ]);
  const incidents = health.data.incidents ?? [];
  const [saving, shared] = await Promise.all([
    Promise.all(salesforce.map((one) => withLastSave(api, mappings, one))),
    sharedOrgFindings(context, health.data.sf?.org_id ?? ""),
  ]);
  const findings = [
    clock,
    ...withSubject(postgres, "PostgreSQL"),
    ...withSubject(saving, "Salesforce"),
    ...pauseOf(mappings),
    ...mappings.flatMap(findingsOn),
    ...monitoring,
    ...shared,
  ].filter((finding) => !incidents.some((incident) => incident.stops && isCovered(finding, incident)));
  report(context, incidents, findings);
}

/** Whether records of an object can be saved, with the time at which Salesforce last accepted a change of it. */
async function withLastSave(api: Api, mappings: ListMappingStatesData, one: Finding): Promise<Finding> {
  const mapping = mappings.find(
    ({ sf_object }) => one.check === "saving" && one.message.startsWith(`${sf_object} can`),
  );
  if (!mapping) return one;
  const asked = { table: mapping.pg_table, state: "SUCCESS", limit: 1 };
  const accepted = async () => {
    const [latest] = (await api.get<readonly ListActivityData[]>("/monitoring/activity", asked)).data;
    return latest && (await api.get<ReadChangeData>(`/monitoring/activity/${latest.id}`)).data;
  };
  // One that lost a conflict was never sent.
  const { sent_at = null, synced_at = null } = (await accepted().catch(nullIfRefused)) ?? {};
  return sent_at && synced_at ? { ...one, message: `${one.message}; it last accepted a change at ${synced_at}` } : one;
}

function nullIfRefused(error: unknown): null {
  if (!(error instanceof CommandFailure)) throw error;
  return null;
}

/** What an incident says already, or makes meaningless: each cause is shown once, and nothing is well that it stops. */
function isCovered({ check, ok, message }: Finding, { cause, objects }: Incident): boolean {
  if (cause === "postgres_unavailable") return ["connection", "mapping", "inbound_errors", "conflicts"].includes(check);
  if (/^(salesforce|api|org)_/.test(cause) && ["calls", "forecast", "session", "saving", "shared_org"].includes(check))
    return true;
  const isOfIts = objects.some((object) => message.includes(object) || message.includes(object.toLowerCase()));
  return !ok && isOfIts && ["mapping", "tables", "capture"].includes(check);
}

const withSubject = (findings: Findings, side: string): Findings =>
  findings.map((one) => (one.ok || one.message.includes(side) ? one : { ...one, message: `${side}: ${one.message}` }));

const toneOf = ({ ok, remedy }: Finding) => (ok ? (remedy === null ? "good" : "warning") : "bad");

/** Incidents, then checks that failed, warnings, and how many passed; `--all` lists these. */
function report(context: Context, incidents: readonly Incident[], findings: Findings): void {
  const { out } = context;
  const ok = findings.every((one) => one.ok) && incidents.every(isWarning);
  if (out.json) {
    const more = incidents.map((one) => ({ ...one, check: one.cause, ok: isWarning(one) }));
    out.record({ ok, findings: [...more, ...findings] });
  } else {
    const marks = { bad: out.paint("red", "✗"), warning: out.paint("yellow", "!"), good: out.paint("green", "✓") };
    const shown = [
      ...incidents.map((one) => ({ tone: isWarning(one) ? "warning" : "bad", lines: linesOf(one) }) as const),
      ...findings.map((one) => ({
        tone: toneOf(one),
        lines: [one.message, ...(one.remedy === null ? [] : [`    ${one.remedy}`])],
      })),
    ];
    const isAll = isSet(context, "all");
    for (const tone of ["bad", "warning", ...(isAll ? (["good"] as const) : [])] as const)
      for (const { lines } of shown.filter((one) => one.tone === tone))
        out.done([`${marks[tone]} ${lines[0]}`, ...lines.slice(1)], null);
    const passed = shown.filter(({ tone }) => tone === "good").length;
    if (!isAll) out.done(`${marks.good} ${count(passed, "check", "checks")} passed; --all lists them`, null);
  }
  if (!ok) context.endAs("unwell");
}

const isWarning = ({ cause }: Incident): boolean => cause === "webhook_paused" || cause === "calls_spared";

/** Fails where no instance answers, with what is known of one on this machine. */
async function service(context: Context): Promise<Response> {
  const { url, because } = context.target();
  const response = await fetch(`${url}/openapi.json`, { method: "GET", signal: AbortSignal.timeout(10_000) }).catch(
    (cause: unknown) => {
      const why = whyStopped(context);
      throw new CommandFailure("unreachable", `${url} (${because}) cannot be reached${why ?? ""}`, { cause });
    },
  );
  await response.body?.cancel();
  return response;
}

async function clockFinding(context: Context): Promise<Finding> {
  const response = await service(context);
  const { url } = context.target();
  if (!response.ok)
    return finding("service", false, `the service does not answer at ${url}`, "is this a Bridge instance's address?");
  const answered = new Date(response.headers.get("date") ?? Number.NaN).getTime();
  const apart = Math.abs(answered - Date.now()) / 1000;
  return finding(
    "clock",
    Number.isNaN(apart) || apart <= MAX_CLOCK_SECONDS,
    `the service answers at ${url}, its clock and this machine's differ by ${Number.isNaN(apart) ? "an unknown time" : `${Math.round(apart)} s`}`,
    "set this machine's clock by NTP",
  );
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
  if (kind === "refused") return "sign in with a token that has the scope admin, then run it again: bridge login";
  if (kind === "conflict") return `connect it with: bridge connect ${check}`;
  return "run it again; if it stays, report it to the operator";
}

/** One that is active and paused is so with all of its workspace. */
function pauseOf(mappings: ListMappingStatesData): Findings {
  const why = mappings.find(({ active, state }) => active && state === "paused")?.reason;
  if (!why) return [];
  const end = why.lastIndexOf("; "); // before it may be a person's words
  return [{ check: "pause", ok: true, message: harmless(why.slice(0, end)), remedy: harmless(why.slice(end + 2)) }];
}

/** Why one fails or waits for a migration or for calls is an incident of its own. */
function findingsOn({ sf_object, state, failure, reason, notices = [], ...mapping }: MappingState): Findings {
  const isElsewhere = Boolean(failure) || NEEDS_SOMEBODY.has(state) || state === "sparing_calls";
  const isHeld = state === "deletes_held";
  const isUnkeyed = mapping.upsert_field === null && mapping.sync_direction !== "sf_to_pg";
  return [
    ...(isElsewhere
      ? []
      : [
          finding(
            "mapping",
            !isHeld,
            `${sf_object} is ${state}${isHeld ? `: ${reason}` : ""}`,
            `decide with: bridge mapping held-deletes ${sf_object}`,
          ),
        ]),
    ...(isUnkeyed
      ? [
          {
            ...{ check: "upsert_field", ok: true, message: `${sf_object} has no upsert field` },
            remedy: `without one, an insert whose answer is lost waits eleven minutes; name one: bridge mapping update ${sf_object} --upsert-field FIELD`,
          },
        ]
      : []),
    ...notices.map((notice) => finding("notice", false, `${sf_object}: ${notice.message}`, notice.remedy)),
  ];
}

function finding(check: string, ok: boolean, message: string, remedy: string): Finding {
  return { check, ok, message, remedy: ok ? null : remedy };
}
