import type { ListMappingStatesData } from "bridge/api";
import { Notice } from "../../parts/trouble.tsx";
import { counted } from "../../parts/words.ts";
import { hrefOf } from "../../route.ts";

/** What needs a user, the worst first; nothing when nothing does. */
export function Troubles({ mappings }: { readonly mappings: ListMappingStatesData }) {
  const stopped = mappings.filter(({ state }) =>
    ["broken", "provisioning_failed", "migration_pending"].includes(state),
  );
  const sparing = mappings.find(({ state }) => state === "sparing_calls");
  const holding = mappings.filter(({ held_deletes }) => held_deletes);
  const failed = mappings.reduce((sum, mapping) => sum + (mapping.failed ?? 0), 0);
  return (
    <>
      {stopped.map((mapping) => (
        <Notice
          key={mapping.id}
          tone="bad"
          title={`${mapping.sf_object} has stopped`}
          acts={
            <a className="button compact" href={hrefOf(`/mappings/${mapping.id}`)}>
              Look at it
            </a>
          }
        >
          {mapping.reason}
        </Notice>
      ))}
      {sparing && (
        <Notice tone="warn" title="The org's API calls run low">
          {sparing.reason}
        </Notice>
      )}
      {holding.map((mapping) => (
        <Notice
          key={mapping.id}
          tone="warn"
          title={`${counted(mapping.held_deletes ?? 0, "delete")} of ${mapping.sf_object} ${mapping.held_deletes === 1 ? "is" : "are"} on hold`}
          acts={
            <a className="button compact" href={hrefOf(`/mappings/${mapping.id}`)}>
              Release or reject
            </a>
          }
        >
          More was deleted within an hour than the limit lets through. Everything else is synced as ever.
        </Notice>
      ))}
      {failed > 0 && (
        <Notice
          tone="warn"
          title={`${counted(failed, "row")} failed`}
          acts={
            <a className="button compact" href={hrefOf("/activity/failed")}>
              See why
            </a>
          }
        />
      )}
    </>
  );
}
