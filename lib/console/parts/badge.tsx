import type { ReactNode } from "react";

/** How good or bad a state is. */
export type Tone = "good" | "warn" | "bad" | "busy" | "quiet";

/** A state in one word; its colour only repeats what the word says. */
export function Badge({
  tone = "quiet",
  children,
  title,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
  readonly title?: string | undefined;
}) {
  return (
    <span className={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}
