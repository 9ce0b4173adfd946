import type { ListMappingStatesData, PollNowData } from "bridge/api";
import { useScopes } from "../api/scopes.ts";
import { useAct } from "../api/use.ts";
import { useSay } from "../parts/toast.tsx";
import type { Entry } from "./entries.ts";

/** What is done with a mapping at once, as on its page; `onDone` closes what offers it. */
export function useMappingActs(mappings: ListMappingStatesData, onDone: () => void): readonly Entry[] {
  const { refusal } = useScopes();
  const say = useSay();
  const poll = useAct<PollNowData, string>((id) => ({ method: "POST", path: `/mappings/${id}/poll-now` }));
  const compare = useAct<unknown, string>((id) => ({ method: "POST", path: `/mappings/${id}/compare` }));
  const pause = useAct<unknown, string>((id) => ({ method: "POST", path: `/mappings/${id}/deactivate` }));
  const activate = useAct<unknown, string>((id) => ({ method: "POST", path: `/mappings/${id}/activate` }));
  // By their promises: what mutate calls back is not called once the list of entries has closed.
  const run = (act: Promise<readonly [title: string, says?: string]>) => {
    onDone();
    void act.then((done) => say.done(...done), say.failed);
  };
  return mappings.flatMap(({ id, sf_object: object, active, sync_direction }) => {
    const toggle: Entry = active
      ? {
          name: `Pause ${object}`,
          onChoose: () =>
            run(pause.mutateAsync(id).then(() => [`${object} is paused`, "Changed rows are still captured."])),
        }
      : {
          name: `Activate ${object}`,
          onChoose: () => run(activate.mutateAsync(id).then(() => [`${object} is active again`])),
        };
    const isOff = !active || sync_direction === "pg_to_sf";
    return [
      {
        name: `Poll ${object} now`,
        refused: refusal("operate"),
        onChoose: () =>
          run(
            poll
              .mutateAsync(id)
              .then(({ data: { triggered, message } }) => [
                triggered ? `A cycle of ${object} was started` : "No cycle was started",
                message,
              ]),
          ),
      },
      {
        name: `Compare ${object} now`,
        refused: refusal("operate") ?? (isOff ? "The mapping does not read from Salesforce now." : null),
        onChoose: () =>
          run(compare.mutateAsync(id).then(() => [`Comparing both sides of ${object}`, "Its page shows the result."])),
      },
      { ...toggle, refused: refusal("admin") },
    ];
  });
}
