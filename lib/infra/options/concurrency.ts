import { ROUTES } from "../../http/routes.ts";
import { WORKERS } from "../../model/resources.ts";
import type { Context } from "./names.ts";

/** Executions at once, by a function's name in the tables. */
export interface Concurrency {
  /** `-c reservedConcurrency=run-cycle=50,…`: set aside for the function, and its limit. */
  readonly reserved: ReadonlyMap<string, number>;
  /** `-c provisionedConcurrency=list-mappings=2,…`: kept warm, at a price by the hour. */
  readonly provisioned: ReadonlyMap<string, number>;
}

/** Below this Lambda takes no `MaximumConcurrency` of a queue. */
const LEAST_OF_WORKERS = 2;

/** Both empty by default: a new account's quota of 10 leaves nothing to set aside. Throws at what Lambda would refuse. */
export function readConcurrency(context: Context): Concurrency {
  const reserved = numbersOf(context, "reservedConcurrency");
  const provisioned = numbersOf(context, "provisionedConcurrency");
  for (const [name, count] of reserved) {
    if (Object.hasOwn(WORKERS, name) && count < LEAST_OF_WORKERS) {
      throw new Error(`reservedConcurrency of ${name} must be at least ${LEAST_OF_WORKERS}: a queue feeds it`);
    }
  }
  for (const [name, count] of provisioned) {
    const most = reserved.get(name) ?? count;
    if (count > most) throw new Error(`provisionedConcurrency of ${name} is ${count}, but only ${most} are reserved`);
  }
  return { reserved, provisioned };
}

function numbersOf(context: Context, option: string): ReadonlyMap<string, number> {
  const asked: unknown = context.tryGetContext(option);
  if (asked === undefined) return new Map();
  const entries = typeof asked === "object" && asked !== null ? Object.entries(asked) : partsOf(String(asked));
  return new Map(
    entries.map(([name, count]) => {
      const known = [...Object.keys(ROUTES), ...Object.keys(WORKERS)];
      if (!known.includes(name)) throw new Error(`${option} names ${name}, which is no function: ${known.join(", ")}`);
      if (Number.isInteger(Number(count)) && Number(count) > 0) return [name, Number(count)];
      throw new Error(`${option} of ${name} must be a whole number above 0, not "${String(count)}"`);
    }),
  );
}

const partsOf = (text: string): [string, string][] =>
  text.split(",").map((part) => {
    const [name = "", count = ""] = part.split("=").map((side) => side.trim());
    return [name, count];
  });
