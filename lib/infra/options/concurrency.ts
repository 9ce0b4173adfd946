import type { Node } from "constructs";
import { ROUTES } from "../../http/routes.ts";
import { WORKERS } from "../../model/resources.ts";

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
export function readConcurrency(node: Node): Concurrency {
  const reserved = numbersOf(node, "reservedConcurrency");
  const provisioned = numbersOf(node, "provisionedConcurrency");
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

function numbersOf(node: Node, option: string): ReadonlyMap<string, number> {
  const asked: unknown = node.tryGetContext(option);
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
