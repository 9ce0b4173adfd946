import { cutText } from "../../../model/cut-text.ts";
import { codeOf } from "../../../model/fault.ts";

/** SQLSTATEs of two transactions in each other's way: deadlock, serialization. */
const CLASHES = ["40P01", "40001"];
/** The SQLSTATE of a lock that could not be had in time. */
export const LOCK_NOT_AVAILABLE = "55P03";

/** The SQLSTATE of what PostgreSQL refused; null when the trouble is another. */
export function sqlState(error: unknown): string | null {
  const code = codeOf(error);
  return /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

/** Whether a lock could not be had in time. */
export const isLockRefused = (error: unknown): boolean => sqlState(error) === LOCK_NOT_AVAILABLE;

/** Whether two transactions blocked each other, so that the same again may well succeed. */
export const isClash = (error: unknown): boolean => CLASHES.includes(sqlState(error) ?? "");

/**
 * Whether a row is to blame: data exceptions, broken constraints, texts that PostgreSQL or an index cannot hold (54),
 * and refusals by the customer's triggers (20, 21, 38, 39, P0, or whatever SQLSTATE they choose or meet), unless the
 * trouble is the server's or passes on its own. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function isRefusedValue(error: unknown): boolean {
  const state = sqlState(error);
  if (state === null) return false;
  return (
    /^(20|21|22|23|38|39|44|54|P0)/.test(state) || (isOfTheirCode(error) && !/^(08|25|40|53|55|57|58|XX)/.test(state))
  );
}

/** The server says where in a function an error is, in its own language: by the function's kind or as `name()`. */
const isOfTheirCode = (error: unknown): boolean =>
  error instanceof Error && "where" in error && typeof error.where === "string" && /PL\/|\(\)/.test(error.where);

/** PostgreSQL repeats a value that it refuses, however long it is. */
export const messageOf = (error: unknown): string => cutText(error instanceof Error ? error.message : String(error));

/** Whether waiting a moment is all that is needed. */
export const isWorthWaiting = (error: unknown): boolean => isLockRefused(error) || isClash(error);

/** A schema or a table that is not there yet means that nothing was provisioned. */
export async function unlessUnprovisioned<T>(rows: Promise<readonly T[]>): Promise<readonly T[]> {
  try {
    return await rows;
  } catch (error) {
    if (["42P01", "3F000"].includes(sqlState(error) ?? "")) return [];
    throw error;
  }
}
