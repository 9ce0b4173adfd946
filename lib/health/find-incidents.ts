import { paceOf, reportBudget } from "../model/calls/budget.ts";
import type { Webhook } from "../model/delivery/webhook.ts";
import { failureOfProvisioning, type Mapping, migrationOf } from "../model/mapping/mapping.ts";
import { type Signs, stallOf } from "../model/stall.ts";
import { type Incident, incident, incidentsOf } from "../model/workspace/incident.ts";
import type { Backlog } from "../monitoring/ports.ts";
import type { WorkspaceReport } from "./ports.ts";

interface Seen {
  /** All mappings, and whether a person has paused them. */
  readonly mappings: readonly Mapping[];
  readonly paused: boolean;
  readonly engine: WorkspaceReport;
  /** What the database shows; null: it did not answer. */
  readonly database: { readonly signs: readonly Signs[]; readonly backlogs: readonly Backlog[] } | null;
  /** Of the database; null: it is not shown. */
  readonly address: string | null;
  readonly orgAnswers: boolean;
  readonly webhooks: readonly Webhook[];
}

/** What is wrong in a workspace, each cause once, the worst first. */
export function findIncidents(seen: Seen, now: Date): readonly Incident[] {
  const { mappings, paused, database, webhooks } = seen;
  const backlogs = new Map(database?.backlogs.map((backlog) => [backlog.id, backlog]));
  const failures = paused ? [] : failuresOf(seen, backlogs, now);
  return [
    ...failures,
    ...mappings.flatMap((mapping) => [provisioningOf(mapping) ?? []].flat()),
    ...(paused ? [] : [...stallsOf(seen, now), ...sparingOf(seen, failures)]),
    ...mappings.flatMap((mapping) => refusedOf(mapping, backlogs.get(mapping.id)) ?? []),
    ...webhooks.flatMap((webhook) => webhookOf(webhook) ?? []),
  ];
}

type Backlogs = ReadonlyMap<string, Backlog>;

/** Mappings that fail, by cause, and a side that does not answer at this moment although no cycle has met it yet. */
function failuresOf({ mappings, engine, database, address, orgAnswers }: Seen, backlogs: Backlogs, now: Date) {
  const failing = mappings.flatMap((mapping) => {
    const report = engine.mappings.find(({ mappingId }) => mappingId === mapping.id);
    if (!mapping.active || !report?.failure) return [];
    const { failure: reason, said, failingSince: since, restUntil } = report;
    const waiting = backlogs.get(mapping.id)?.waiting ?? null;
    const rest = restUntil && restUntil > now ? restUntil : null;
    const { message = "", remedy } = said ?? {};
    return { reason, message, remedy, since, restUntil: rest, waiting, sfObject: mapping.sfObject };
  });
  const isMet = (side: RegExp) => failing.some(({ reason }) => side.test(reason));
  const objects = mappings.filter(({ active }) => active).map(({ sfObject }) => sfObject);
  const [sfObject = ""] = objects;
  const silent = { sfObject, message: "", since: null, restUntil: null, waiting: null };
  const unmet = [
    ...(database === null && !isMet(/^postgres/) ? [{ ...silent, reason: "postgres_unavailable" as const }] : []),
    ...(!orgAnswers && !isMet(/^salesforce|^api|^org/)
      ? [{ ...silent, reason: "salesforce_unavailable" as const }]
      : []),
  ];
  return objects.length === 0
    ? []
    : [
        ...incidentsOf(unmet, address).map((one) => ({ ...one, objects, said: null })),
        ...incidentsOf(failing, address),
      ];
}

function provisioningOf({ active, sfObject, provisioning, updatedAt: since }: Mapping): Incident | null {
  if (!active || provisioning.state === "ready") return null; // a proposal beside a table that is ready stops nothing
  const reason = failureOfProvisioning(provisioning);
  const isProposed = migrationOf(provisioning) !== null;
  if (reason === null && !isProposed) return null;
  return incident({
    ...{ cause: isProposed ? "migration_pending" : "provisioning_failed", said: reason, since, objects: [sfObject] },
    message: `${sfObject}: its table ${isProposed ? "waits for your migration" : "could not be created"}`,
    remedy: isProposed ? "run the migration that this prints" : "correct the reason, then save the mapping again",
    commands: [isProposed ? "bridge schema propose" : `bridge mapping show ${sfObject}`],
  });
}

/** A mapping that fails says why itself. */
const stallsOf = ({ mappings, engine, database }: Seen, now: Date): readonly Incident[] =>
  (database?.signs ?? []).flatMap((signs) => {
    const mapping = mappings.find(({ id, active }) => active && id === signs.id);
    const isFailing = engine.mappings.some(({ mappingId, failure }) => mappingId === signs.id && failure !== null);
    const stall = mapping && !isFailing ? stallOf(mapping, signs, now) : null;
    return stall && mapping ? incident({ cause: "stalled", ...stall, objects: [mapping.sfObject] }) : [];
  });

/** Of a share that is used up only while Salesforce still takes calls. */
function sparingOf({ engine: { usage, budget } }: Seen, failures: readonly Incident[]): readonly Incident[] {
  const { plan, since } = budget;
  if (!usage || !plan || paceOf(plan) === "normal" || failures.length > 0) return [];
  const message =
    paceOf(plan) === "waiting"
      ? "Bridge's share of the org's API calls is used up: rows wait"
      : "Bridge's share of the org's API calls runs low: pulls are further apart";
  const remedy =
    "slow the org's other clients down, raise its limit or Bridge's share, or raise sf_polling_seconds of mappings";
  const said = reportBudget({ ...budget, usage, plan });
  return [incident({ cause: "calls_spared", stops: false, message, said, since, remedy, commands: ["bridge budget"] })];
}

function refusedOf({ sfObject }: Mapping, backlog: Backlog | undefined): Incident | null {
  if (!backlog || backlog.failed === 0) return null;
  const { failed, refusal: said } = backlog;
  return incident({
    ...{ cause: "rows_refused", stops: false, said, objects: [sfObject] },
    message: `Salesforce refused ${failed === 1 ? "1 row" : `${failed} rows`} of ${sfObject}`,
    remedy: "correct the values in the rows; Bridge then sends them again",
    commands: ["bridge errors --grouped", "bridge errors --retry"],
  });
}

function webhookOf({ id, url, active, failingSince, updatedAt }: Webhook): Incident | null {
  if (active && failingSince === null) return null;
  const place = new URL(url).origin; // a path can be a secret
  if (active)
    return incident({
      ...{ cause: "webhook_failing", stops: false, since: failingSince },
      message: `the webhook ${id} at ${place} accepts no delivery`,
      remedy: "check its answers; once it accepts deliveries, replay those that were given up",
      commands: [
        `bridge webhook deliveries ${id}`,
        `bridge webhook replay ${id} --since ${failingSince?.toISOString()}`,
      ],
    });
  return incident({
    ...{ cause: "webhook_paused", stops: false, since: updatedAt },
    message: `the webhook ${id} at ${place} is paused: it receives no events`,
    remedy: "resume it, then replay the events of the pause",
    commands: [
      `bridge webhook update ${id} --resume`,
      `bridge webhook replay ${id} --since ${updatedAt.toISOString()}`,
    ],
  });
}
