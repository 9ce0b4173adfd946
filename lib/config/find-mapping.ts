import { Failure } from "../model/failure.ts";
import type { Mapping } from "../model/mapping/mapping.ts";
import type { Mappings } from "./ports.ts";

/** The mapping that a path names; refuses with MAPPING_NOT_FOUND what this workspace does not have. */
export async function findMapping(
  mappings: Pick<Mappings, "find">,
  workspaceId: string,
  mappingId: string,
): Promise<Mapping> {
  const mapping = await mappings.find(workspaceId, mappingId);
  if (mapping === null) throw new Failure("MAPPING_NOT_FOUND", "this workspace has no mapping with this id");
  return mapping;
}
