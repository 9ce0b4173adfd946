import { type CycleFailure, FAILURE_REASONS, type FailureReason, reasonFor } from "../engine.ts";

/** Why something does not move, or fails, that is no reason of `sync.broken`. */
const OTHER_CAUSES = [
  "stalled",
  "calls_spared",
  "provisioning_failed",
  "migration_pending",
  "rows_refused",
  "webhook_failing",
  "webhook_paused",
] as const;

export const CAUSES = [...FAILURE_REASONS, ...OTHER_CAUSES] as const;
export type Cause = (typeof CAUSES)[number];

/** One cause with all that it concerns: what happened, what waits for it, and what helps. */
export interface Incident {
  readonly cause: Cause;
  /** What it concerns has stopped; false: it continues, without some rows or deliveries. */
  readonly stops: boolean;
  /** What happened, in a person's words, and those of the side that it comes from; null: there are none. */
  readonly message: string;
  readonly said: string | null;
  readonly since: Date | null;
  /** The objects whose mappings it concerns. */
  readonly objects: readonly string[];
  /** Rows that wait for its end; null: not known. */
  readonly waiting: number | null;
  /** Null: not known, or with the next cycle. */
  readonly nextTryAt: Date | null;
  readonly remedy: string;
  readonly commands: readonly string[];
}

/** What no mapping says of its cause. */
export const incident = (of: Pick<Incident, "cause" | "message" | "remedy"> & Partial<Incident>): Incident => ({
  ...{ stops: true, said: null, since: null, objects: [], waiting: null, nextTryAt: null, commands: [] },
  ...of,
});

/** What a failure of a mapping is for an operator: what happened, what helps, and how to do that. */
export function causeOf({ reason, remedy }: Pick<CycleFailure, "reason" | "remedy">, sfObject: string) {
  const { what, remedy: usual, commands = ["bridge poll {}"] } = reasonFor(reason);
  return { what, remedy: remedy ?? usual, commands: commands.map((command) => command.replace("{}", sfObject)) };
}

/** A mapping that fails. */
export interface Failing extends CycleFailure {
  readonly sfObject: string;
  readonly since: Date | null;
  readonly restUntil: Date | null;
  readonly waiting: number | null;
}

/** Mappings that fail, by what they share: those of one org or database are one incident. */
export function incidentsOf(failing: readonly Failing[], database: string | null): readonly Incident[] {
  const groups = Map.groupBy(failing, ({ reason, sfObject }) =>
    reasonFor(reason).of ? reason : `${reason} ${sfObject}`,
  );
  return [...groups.values()].flatMap((some) => {
    const [first] = some;
    if (!first) return [];
    const { what, ...cause } = causeOf(first, first.sfObject);
    const subject = reasonFor(first.reason).of;
    const times = (of: (one: Failing) => Date | null) => some.flatMap((one) => of(one)?.getTime() ?? []);
    const [since, nextTry] = [times((one) => one.since), times(({ restUntil }) => restUntil)];
    return incident({
      cause: first.reason,
      ...cause,
      message: subject
        ? what.replace("PostgreSQL", database === null ? "PostgreSQL" : `PostgreSQL ${database}`)
        : `${first.sfObject}: ${what}`,
      said: first.message,
      since: since.length > 0 ? new Date(Math.min(...since)) : null,
      objects: some.map(({ sfObject }) => sfObject),
      waiting: some.reduce<number | null>(
        (sum, { waiting }) => (sum === null || waiting === null ? null : sum + waiting),
        0,
      ),
      nextTryAt: nextTry.length > 0 ? new Date(Math.min(...nextTry)) : null,
    });
  });
}

/** Why a row waits whose mapping fails, and when it is sent. */
export const waitsFor = (reason: FailureReason, sfObject: string): string =>
  `${sfObject} is broken (${reasonFor(reason).what.replace(/^the /, "")}). Sent automatically ${reasonFor(reason).sentWhen}.`;
