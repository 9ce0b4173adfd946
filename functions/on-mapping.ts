import type { Acting } from "../lib/access/ports.ts";
import { findMapping } from "../lib/config/find-mapping.ts";
import type { Asked, Endpoint, PathOf } from "../lib/http/endpoint.ts";
import type { RouteName } from "../lib/http/routes.ts";
import type { Mapping } from "../lib/model/mapping/mapping.ts";
import { onLambda } from "./invocation/on-lambda.ts";
import { mappings } from "./services/composition.ts";

/** Routes whose path names a mapping. */
type MappingRoute = { [Name in RouteName]: "mapping_id" extends keyof PathOf<Name> ? Name : never }[RouteName];

interface OnMapping<Name extends RouteName, Input> extends Omit<Endpoint<Name, Input, Mapping>, "find" | "run"> {
  readonly run: (
    asked: Asked<Name, Input, Mapping> & { readonly who: Acting & { readonly mapping: Mapping } },
  ) => Promise<unknown>;
}

/** An endpoint of the mapping that its path names: `who` asks, and of which mapping. */
export const onMapping = <const Name extends MappingRoute, Input = unknown>(endpoint: OnMapping<Name, Input>) =>
  onLambda<Name, Input, Mapping>({
    ...endpoint,
    find: ({ path, workspace }) => findMapping(mappings(), workspace.id, (path as { mapping_id: string }).mapping_id),
    run: (asked) => {
      const { workspace, resource: mapping, actor, at } = asked;
      return endpoint.run({ ...asked, who: { workspace, mapping, actor, at } });
    },
  });
