import * as z from "zod/mini";

/** One thing that was looked at, and what to do when it is not as it must be. */
export const finding = z.object({
  check: z.string(),
  ok: z.boolean(),
  message: z.string(),
  remedy: z.nullable(z.string()),
});
export type Finding = z.infer<typeof finding>;

/** The findings of a connection's check. */
export const checked = z.object({ ok: z.boolean(), findings: z.array(finding) });
export type Checked = z.infer<typeof checked>;

/** All findings together; it is well when each is. */
export const together = (findings: readonly Finding[]): Checked => ({
  ok: findings.every(({ ok }) => ok),
  findings: [...findings],
});

/** A finding; the remedy is given only when it is needed. */
export function judged(check: string, ok: boolean, message: string, remedy: string): Finding {
  return { check, ok, message, remedy: ok ? null : remedy };
}
