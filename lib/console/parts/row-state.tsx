import type { ListActivityData } from "bridge/api";
import { Badge, type Tone } from "./badge.tsx";

type State = ListActivityData["state"];

const TONES: Record<State, Tone> = { NEW: "quiet", PENDING: "busy", SUCCESS: "good", FAILED: "bad" };

const SAYS: Record<State, string> = {
  NEW: "captured, waits for the next cycle",
  PENDING: "being sent",
  SUCCESS: "Salesforce took it",
  FAILED: "Salesforce refused it",
};

/** How far a change is. */
export function RowState({ state }: { readonly state: State }) {
  return (
    <Badge tone={TONES[state]} title={SAYS[state]}>
      {state}
    </Badge>
  );
}
