import { loops, shadows } from "./database.ts";
import { fuzz, matrix, names, roles, rows } from "./inside.ts";
import { database } from "./lying-database.ts";
import { org } from "./lying-org.ts";
import { addresses, receivers, redirects } from "./outside.ts";
import { poison } from "./poison.ts";
import { terminal } from "./terminal.ts";
import type { Part } from "./world.ts";

/** What `npm run attack` tries, in this order: what changes most comes last. */
export const PARTS = {
  roles,
  redirects,
  matrix,
  addresses,
  receivers,
  names,
  terminal,
  database,
  org,
  rows,
  shadows,
  loops,
  poison,
  fuzz,
} as const satisfies Record<string, Part>;

export type PartName = keyof typeof PARTS;
