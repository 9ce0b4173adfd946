import type { Session } from "./sql.ts";
import { isRefusedValue } from "./sql-errors.ts";

/**
 * Does a part of a transaction that writes rows of the customer's; undoes that part and gives the error when a row refuses,
 * by a trigger or a constraint, or when it is another one that is meant. Null: none did.
 */
export async function refusalOf(
  session: Session,
  work: () => Promise<unknown>,
  isMeant: (error: unknown) => boolean = isRefusedValue,
): Promise<unknown> {
  await session.script("SAVEPOINT part");
  try {
    await work();
    // What a constraint would say at the end of the transaction, when its row could not be found any more.
    await session.script("SET CONSTRAINTS ALL IMMEDIATE; RELEASE SAVEPOINT part");
    return null;
  } catch (error) {
    if (!isMeant(error)) throw error;
    await session.script("ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part");
    return error;
  }
}
