/**
 * How far a mapping's database was when a cycle reported it: the fence of its lease, and the last value of the log's
 * sequence. Both only rise; retention does not lower them, as it does the log's highest id.
 */
export interface HighWater {
  readonly fence: number;
  readonly logId: number;
  readonly at: Date;
}

/** A database that has lost more than was reported in so long was restored or copied. */
const TAIL_MILLISECONDS = 2 * 60_000;

/** The positions to keep, newest first: the newest, the first ones of the last minutes, and the next older one. */
export function keepHighWater(kept: readonly HighWater[], reached: HighWater): readonly HighWater[] {
  const [last, before] = kept;
  const isFirst = last === undefined || before === undefined || minuteOf(last) !== minuteOf(before);
  const earlier = isFirst ? kept : kept.slice(1);
  const older = earlier.findIndex(({ at }) => reached.at.getTime() - at.getTime() >= TAIL_MILLISECONDS);
  return [reached, ...(older < 0 ? earlier : earlier.slice(0, older + 1))];
}

const minuteOf = ({ at }: HighWater): number => Math.floor(at.getTime() / 60_000);

/** `tail`: it has lost the last moments, as by a failover; `rewound`: it was restored or copied, and a person decides. */
export type Rewind = "tail" | "rewound";

/** A failover is over within this long, and what it lost waits again and is found by the next beat. */
const FAILOVER_MILLISECONDS = 15 * 60_000;

/** What a database has lost whose cycle has acquired its lease just now (`at`); null: nothing. */
export function rewindOf(kept: readonly HighWater[], now: HighWater): Rewind | null {
  // The fence of this lease is a new one: what was reported before had a lower one.
  const isBelow = ({ fence, logId }: HighWater) => now.fence <= fence || now.logId < logId;
  if (!kept.some(isBelow)) return null;
  const [newest] = kept;
  // A mapping that was idle since reports nothing: what is lost may be all since then.
  if (newest && now.at.getTime() - newest.at.getTime() >= FAILOVER_MILLISECONDS) return "rewound";
  const older = kept.find(({ at }) => newest && newest.at.getTime() - at.getTime() >= TAIL_MILLISECONDS);
  return older && !isBelow(older) ? "tail" : "rewound";
}
