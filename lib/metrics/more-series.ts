import type { KeptReport } from "../health/ports.ts";
import type { Outcomes } from "../model/delivery/delivery.ts";
import { bellOf } from "../model/doorbell.ts";
import { VERSION } from "../model/version.ts";
import { exposition, type Metric } from "./exposition.ts";
import type { Figures, MappingFigures } from "./ports.ts";

/** Beyond so many mappings their series are left out: a function answers with 6 MB at most, and each mapping takes 1.6 KB. */
const MOST_MAPPINGS = 2500;

/** A gauge of a thing: name, meaning, value; null: no sample. */
type Gauge<Thing> = readonly [
  name: string,
  help: string,
  value: (thing: Thing, report: KeptReport, at: number) => number | null | undefined,
];

const OF_MAPPINGS: readonly Gauge<MappingFigures>[] = [
  ["waiting_rows", "Changes that wait and are not held, up to 100,000.", ({ waiting }) => waiting],
  [
    "oldest_waiting_seconds",
    "How long the oldest of them has waited; 0 when none does.",
    ({ oldestAt }, _, at) => (oldestAt === null ? 0 : seconds(Math.max(0, at - oldestAt))),
  ],
  [
    "last_cycle_timestamp_seconds",
    "When the last cycle ended.",
    ({ lastCycleAt }) => lastCycleAt && seconds(lastCycleAt),
  ],
  ["pulled_rows_10m", "Rows that pulls changed in ten minutes.", ({ pulled }) => pulled],
  ["conflicts_24h", "Conflicts of the last 24 hours.", ({ conflicts }) => conflicts],
  ["inbound_errors", "Records that could not become rows.", ({ inboundErrors }) => inboundErrors],
  ["stalled", "1 while it does not move all that it should, else left out.", ({ stalled }) => (stalled ? 1 : null)],
  ["held_deletes", "Deletes that wait for a person.", ({ heldDeletes }) => heldDeletes],
  ["lag_p50_seconds", "From capture to Salesforce's word, median of ten minutes.", ({ lagP50 }) => lagP50],
  ["lag_p95_seconds", "The same, 95th percentile.", ({ lagP95 }) => lagP95],
  [
    "broken",
    "1 while an error that stays has stopped it.",
    ({ id }, { mappings }) => Number(mappings.some(({ mappingId, broken }) => broken && mappingId === id)),
  ],
];

const OF_WORKSPACES: readonly Gauge<KeptReport>[] = [
  ["org_calls_used", "API calls of 24 hours by the org's own count.", ({ usage }) => usage?.used],
  ["org_calls_limit", "How many the org may make in 24 hours.", ({ usage }) => usage?.limit],
  ["org_calls_allowed", "How many of them Bridge may make.", ({ budget }) => budget.plan?.allowed],
];

const MAPPING = ["workspace_id", "mapping_id", "object"] as const;

const seconds = (milliseconds: number): number => Math.round(milliseconds) / 1000;

const bellsOf = ({ figures, budget }: KeptReport, at: Date): readonly string[] =>
  (figures?.mappings ?? [])
    .filter(({ rings }) => rings)
    .map(({ id }) => bellOf(budget.doorbell, { id, notifyEnabled: true }, at).state);

/** The series beyond the contract's, as text, of what the minute sweep has seen and the engine state. */
export function moreText(reports: ReadonlyMap<string, KeptReport>, at: Date): string {
  const workspaces = [...reports].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const each = <Thing>(
    of: (report: KeptReport) => readonly Thing[] | undefined,
    sample: (
      thing: Thing,
      report: KeptReport,
    ) => readonly [labels: readonly string[], value: number | null | undefined],
  ): Metric["samples"] =>
    workspaces.flatMap(([workspaceId, report]) =>
      (of(report) ?? []).flatMap((thing) => {
        const [labels, value] = sample(thing, report);
        return value === null || value === undefined ? [] : [{ values: [workspaceId, ...labels], value }];
      }),
    );
  const mappingsIn = ({ figures }: KeptReport) => figures?.mappings;
  const hooks = ({ figures }: KeptReport): Figures["webhooks"] | undefined => figures?.webhooks;

  const gauge = (name: string, help: string, labels: Metric["labels"], samples: Metric["samples"]): Metric => ({
    name: `bridge_${name}`,
    type: "gauge",
    help,
    labels,
    samples,
  });
  const mappings = OF_MAPPINGS.map(([name, help, value]) => {
    const samples = each(mappingsIn, (one, report) => [[one.id, one.object], value(one, report, at.getTime())]);
    return gauge(`mapping_${name}`, help, MAPPING, samples);
  });
  const many = workspaces.flatMap(([, report]) => mappingsIn(report) ?? []).length;
  const isTooMany = many > MOST_MAPPINGS;
  const all = [
    ...(isTooMany ? [] : mappings),
    gauge(
      "mappings_left_out",
      "Mappings without series of their own, for there are more than 2,500.",
      [],
      [{ values: [], value: isTooMany ? many : 0 }],
    ),
    ...OF_WORKSPACES.map(([name, help, value]) => {
      const samples = each(
        (report) => [report],
        (report) => [[], value(report, report, at.getTime())],
      );
      return gauge(name, help, ["workspace_id"], samples);
    }),
    gauge(
      "doorbells",
      "Active mappings whose doorbell is switched on, by its state.",
      ["workspace_id", "state"],
      each(
        (report) => [...Map.groupBy(bellsOf(report, at), (state) => state)],
        ([state, bells]) => [[state], bells.length],
      ),
    ),
    gauge(
      "webhook_failing",
      "1 while attempts fail.",
      ["workspace_id", "webhook_id"],
      each(hooks, ({ id, isFailing }) => [[id], Number(isFailing)]),
    ),
    gauge(
      "webhook_deliveries_1h",
      "Deliveries of the last hour, the latest 500, by their outcome so far.",
      ["workspace_id", "webhook_id", "outcome"],
      ["successful", "failed", "pending"].flatMap((outcome) =>
        each(hooks, ({ id, deliveries }) => [[id, outcome], deliveries?.[outcome as keyof Outcomes] ?? null]),
      ),
    ),
    gauge("build_info", "1, of the version that answers.", ["version"], [{ values: [VERSION], value: 1 }]),
  ];
  return exposition(all.filter(({ samples }) => samples.length > 0));
}
