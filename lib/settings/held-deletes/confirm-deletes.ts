import { withDatabase } from "../../monitoring/with-database.ts";
import { type Needs, noteMapping, type OnMapping } from "../change-rows.ts";
import { type ChosenDeletes, named } from "./reject-ports.ts";

/** Deletes that one call lets go: some seconds' work of a request that may take 25. */
export const DELETES_AT_ONCE = 200_000;

/** Lets deletes go that the breaker holds back. Call again while a call gives `DELETES_AT_ONCE` and more. */
export async function confirmDeletes(needs: Needs, who: OnMapping, only: ChosenDeletes | null): Promise<number> {
  await noteMapping(needs, who, "deletes.confirmed", named(only));
  return withDatabase(needs.rowQueries, who.workspace, (queries) =>
    queries.confirmDeletes(who.mapping.id, DELETES_AT_ONCE, only),
  );
}
