import type { ListMappingStatesData } from "bridge/api";
import { Badge, type Tone } from "./badge.tsx";

type Mapping = ListMappingStatesData[number];

const TONES: Record<Mapping["state"], Tone> = {
  provisioning: "busy",
  provisioning_failed: "bad",
  migration_pending: "warn",
  loading: "busy",
  running: "good",
  sparing_calls: "warn",
  deletes_held: "warn",
  broken: "bad",
  paused: "quiet",
  deleted: "quiet",
  unknown: "warn",
};

const WORDS: Record<Mapping["state"], string> = {
  provisioning: "setting up",
  provisioning_failed: "set-up failed",
  migration_pending: "needs a migration",
  loading: "first load",
  running: "running",
  sparing_calls: "saving calls",
  deletes_held: "running, deletes on hold",
  broken: "broken",
  paused: "paused",
  deleted: "deleted",
  unknown: "unknown",
};

/** What a mapping does now, with the reason where it does not. */
export function MappingState({ mapping }: { readonly mapping: Pick<Mapping, "state" | "reason"> }) {
  return (
    <Badge tone={TONES[mapping.state]} title={mapping.reason ?? undefined}>
      {WORDS[mapping.state]}
    </Badge>
  );
}

/** Which way rows go. */
export const DIRECTIONS: Record<Mapping["sync_direction"], string> = {
  bidirectional: "both ways",
  sf_to_pg: "to PostgreSQL",
  pg_to_sf: "to Salesforce",
};

/** Who wins when both sides change the same field. */
export const POLICIES: Record<Mapping["conflict_policy"], string> = {
  salesforce_wins: "Salesforce wins",
  postgres_wins: "PostgreSQL wins",
  latest_wins: "the latest change wins",
};
