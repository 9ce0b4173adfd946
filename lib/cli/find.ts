import type { ListMappingStatesData } from "bridge/api";
import { didYouMean } from "../model/nearest.ts";
import type { Api } from "./api.ts";
import { argument, type Context, segment } from "./context.ts";
import { CommandFailure } from "./failure.ts";

/** A mapping as in the list with engine states. */
export type MappingState = ListMappingStatesData[number];

/** States that last until a person acts. */
export const NEEDS_SOMEBODY: ReadonlySet<string> = new Set(["provisioning_failed", "migration_pending", "broken"]);

/** The mapping that a command's first argument names, and its path in the API. */
export async function namedMapping(context: Context, deleted = false) {
  const api = context.api();
  const mapping = await findMapping(api, argument(context, 0), deleted);
  return { ...mapping, api, path: `/mappings/${segment(mapping.id)}` };
}

/** The mapping that a user means: by id, by object or by table, in any case. */
export async function findMapping(api: Api, wanted: string, deleted = false): Promise<MappingState> {
  const { data } = await api.get<ListMappingStatesData>("/monitoring/mappings", { deleted: deleted || null });
  const name = wanted.toLowerCase();
  const found =
    data.find(({ id }) => id === wanted) ??
    data.find(({ sf_object }) => sf_object.toLowerCase() === name) ??
    data.find(({ pg_table }) => pg_table.toLowerCase() === name);
  if (found) return found;
  const known = data.map(({ sf_object }) => sf_object).join(", ") || "none";
  const meant = didYouMean(
    wanted,
    data.flatMap(({ sf_object, pg_table }) => [sf_object, pg_table]),
  );
  throw new CommandFailure(
    "notFound",
    `there is no ${deleted ? "deleted " : ""}mapping "${wanted}"; known: ${known}${meant}`,
  );
}
