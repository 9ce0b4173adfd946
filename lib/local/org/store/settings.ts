import type { Database } from "./database.ts";

/** A value that is created once, at the org's first start, and stays the same ever after. */
export function keptSetting(database: Database, name: string, make: () => string): string {
  const known = database.first("SELECT value FROM _setting WHERE name = ?", name)?.["value"];
  if (typeof known === "string") return known;
  const value = make();
  database.run("INSERT INTO _setting VALUES (?, ?)", name, value);
  return value;
}

/** The next number of a sequence, from 1; rolled back with its transaction. */
export function nextNumber(database: Database, name: string): number {
  const sql = "INSERT INTO _sequence VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value";
  return Number(database.first(sql, name)?.["value"]);
}
