import type { CreateMappingBody, ReadObjectData } from "bridge/api";
import { Choice, Field } from "../../parts/field.tsx";
import { DIRECTIONS, POLICIES } from "../../parts/mapping-state.tsx";
import { Notice } from "../../parts/trouble.tsx";
import { FilterField } from "./filter-field.tsx";
import { lackingOf } from "./preview.ts";

/** What is set of a mapping beside its object and its fields. */
export interface MappingSettings {
  readonly sync_direction: NonNullable<CreateMappingBody["sync_direction"]>;
  readonly sf_polling_seconds: number;
  readonly when_quiet_seconds: number | null;
  readonly sf_notify_enabled: boolean;
  readonly upsert_field: string | null;
  readonly conflict_policy: NonNullable<CreateMappingBody["conflict_policy"]>;
  readonly delete_limit: string;
  readonly batch_size: number;
  readonly filter: string | null;
}

/** How a new mapping begins. */
export const DEFAULT_SETTINGS: MappingSettings = {
  sync_direction: "bidirectional",
  sf_polling_seconds: 10,
  when_quiet_seconds: null,
  sf_notify_enabled: false,
  upsert_field: null,
  conflict_policy: "salesforce_wins",
  delete_limit: "auto",
  batch_size: 200,
  filter: null,
};

interface Props {
  readonly value: MappingSettings;
  readonly onChange: (value: MappingSettings) => void;
  readonly wrong: (path: string) => string | undefined;
}

interface MainProps extends Props {
  readonly object: ReadObjectData;
  /** Names of the fields that are mapped. */
  readonly chosen: ReadonlySet<string>;
}

/** Filter, direction and upsert field: what decides which rows move, and how they meet their records. */
export function MainSettings({ value, onChange, wrong, object, chosen }: MainProps) {
  const set = (part: Partial<MappingSettings>) => onChange({ ...value, ...part });
  const identifying = object.fields.filter(
    ({ name, external_id, unique }) => (external_id || unique || name === value.upsert_field) && name !== "Id",
  );
  const lacking = lackingOf(object.fields, chosen);
  return (
    <div className="form">
      <FilterField
        object={object.name}
        value={value.filter}
        onChange={(filter) => set({ filter })}
        wrong={wrong("filter")}
      />
      <Choice
        label="Direction"
        value={value.sync_direction}
        onChange={({ target }) => set({ sync_direction: target.value as MappingSettings["sync_direction"] })}
        options={Object.entries(DIRECTIONS)}
      />
      {value.sync_direction !== "sf_to_pg" && (
        <Choice
          label="Upsert field"
          value={value.upsert_field ?? ""}
          onChange={({ target }) => set({ upsert_field: target.value || null })}
          wrong={wrong("upsert_field")}
          hint={
            identifying.length === 0
              ? "The object has no external id. Without one, an insert whose answer was lost waits eleven minutes before it is sent again."
              : "With one, every change arrives exactly once, whatever breaks."
          }
          options={[["", "none"], ...identifying.map(({ name }) => [name, name] as const)]}
        />
      )}
      {value.sync_direction !== "sf_to_pg" && lacking.length > 0 && (
        <Notice tone="warn" title={`Salesforce will refuse rows that are inserted without ${lacking.join(", ")}`}>
          {object.name} requires them: choose them, or let the mapping only read.
        </Notice>
      )}
    </div>
  );
}

/** Rhythm, conflicts and limits, whose defaults suit most mappings. */
export function MoreSettings({ value, onChange, wrong }: Props) {
  const set = (part: Partial<MappingSettings>) => onChange({ ...value, ...part });
  return (
    <div className="form">
      {value.sync_direction !== "pg_to_sf" && (
        <Field
          label="Read Salesforce every (seconds)"
          type="number"
          min={10}
          max={86_400}
          value={value.sf_polling_seconds}
          onChange={({ target }) => set({ sf_polling_seconds: target.valueAsNumber || 10 })}
          wrong={wrong("sf_polling_seconds")}
          hint="Your rows are sent every ten seconds in any case. That costs no calls while nothing changes."
        />
      )}
      {value.sync_direction !== "pg_to_sf" && (
        <Field
          label="Pull interval after five quiet minutes (seconds)"
          type="number"
          min={10}
          max={86_400}
          value={value.when_quiet_seconds ?? ""}
          onChange={({ target }) => set({ when_quiet_seconds: target.value === "" ? null : target.valueAsNumber })}
          wrong={wrong("when_quiet_seconds")}
          hint="Costs fewer calls, but the first change after a quiet time arrives later. Empty: the workspace's setting."
        />
      )}
      {value.sync_direction !== "pg_to_sf" && (
        <Choice
          label="Doorbell"
          value={value.sf_notify_enabled ? "on" : "off"}
          onChange={({ target }) => set({ sf_notify_enabled: target.value === "on" })}
          hint="On: Salesforce announces changes, and Bridge polls every four minutes while that works. Deletes arrive with these polls. bridge doorbell --prepare sets up the org."
          options={[
            ["off", "off"],
            ["on", "on"],
          ]}
        />
      )}
      {value.sync_direction === "bidirectional" && (
        <Choice
          label="When both sides change the same field"
          value={value.conflict_policy}
          onChange={({ target }) => set({ conflict_policy: target.value as MappingSettings["conflict_policy"] })}
          options={Object.entries(POLICIES)}
        />
      )}
      <Field
        label="Delete limit per hour"
        value={value.delete_limit}
        onChange={({ target }) => set({ delete_limit: target.value })}
        wrong={wrong("delete_limit")}
        spellCheck={false}
        hint="More are held until you decide. A number, a share of the table (25%), or off. auto: the largest of 100, 10 % of the table, and three times the busiest hour of the week before."
      />
      {value.sync_direction !== "sf_to_pg" && (
        <Field
          label="Most records in one call"
          type="number"
          min={1}
          max={200}
          value={value.batch_size}
          onChange={({ target }) => set({ batch_size: target.valueAsNumber || 200 })}
          wrong={wrong("batch_size")}
          hint="Bridge sends fewer where Apex limits refuse so many. Below 200 it does not use the Bulk API."
        />
      )}
    </div>
  );
}
