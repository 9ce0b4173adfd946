import { useEffect, useState } from "react";
import { ago, clock, utc } from "./words.ts";

interface TimeProps {
  readonly at: string | null | undefined;
  /** Shown when there is none. */
  readonly none?: string;
}

/** A moment in the reader's zone; UTC when it is pointed at. */
export function Time({ at, none = "–" }: TimeProps) {
  if (!at) return <span className="muted">{none}</span>;
  return (
    <time dateTime={at} title={utc(at)}>
      {clock(at)}
    </time>
  );
}

/** How long ago a moment was, or how soon it comes, counting as it is read. */
export function Ago({ at, none = "never" }: TimeProps) {
  const now = useNow(at ? 1000 : 60_000);
  if (!at) return <span className="muted">{none}</span>;
  return (
    <time dateTime={at} title={`${clock(at)} · ${utc(at)}`}>
      {ago(at, now)}
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
