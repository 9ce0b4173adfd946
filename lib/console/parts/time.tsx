import { type ReactNode, useEffect, useState } from "react";
import { ago, clock, date, utc } from "./words.ts";

interface TimeProps {
  readonly at: string | null | undefined;
  /** Shown when there is none. */
  readonly none?: string;
}

/** How far a moment is, counting as it is read, and its date when it is pointed at; after a month the date itself. */
export function Ago({ at, none = "never" }: TimeProps) {
  const [near, setNear] = useState(true);
  const now = useNow(at && near ? 1000 : 60_000);
  const distance = Math.abs(now - Date.parse(at ?? ""));
  const isNear = distance < NEAR_MILLISECONDS;
  if (at && near !== isNear) setNear(isNear);
  return <Moment at={at} none={none} words={at && (distance > MONTH_MILLISECONDS ? clock(at) : ago(at, now))} />;
}

/** A moment as the clock has it, for a sentence with since or until. */
export function Time({ at, none = "–" }: TimeProps) {
  return <Moment at={at} none={none} words={at && clock(at)} />;
}

const NEAR_MILLISECONDS = 90_000;
const MONTH_MILLISECONDS = 30 * 86_400_000;

function Moment({ at, none, words }: TimeProps & { readonly words: ReactNode }) {
  if (!at) return <span className="muted">{none}</span>;
  return (
    <time dateTime={at} title={`${date(at)} · ${utc(at)}`}>
      {words}
    </time>
  );
}

/** The present, in milliseconds, renewed as often as asked. */
export function useNow(everyMilliseconds: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMilliseconds);
    return () => clearInterval(timer);
  }, [everyMilliseconds]);
  return now;
}
