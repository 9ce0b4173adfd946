import type { ReadObjectData } from "bridge/api";
import { useMemo, useState } from "react";
import { Button } from "../../parts/button.tsx";
import { counted } from "../../parts/words.ts";
import { ALWAYS_SYNCED, OWN_COLUMNS } from "./preview.ts";

type Field = ReadObjectData["fields"][number];

interface Props {
  readonly fields: readonly Field[];
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}

/** The fields of an object to choose from, each with its column and what a person must know of it. */
export function FieldPicker({ fields, chosen, onChange }: Props) {
  const [query, setQuery] = useState("");
  const choosable = useMemo(
    () =>
      fields
        .filter((field) => field.mappable && !ALWAYS_SYNCED.includes(field.name))
        .toSorted((one, other) => rankOf(one) - rankOf(other)),
    [fields],
  );
  const shown = choosable.filter(({ name, label }) => `${name} ${label}`.toLowerCase().includes(query.toLowerCase()));
  const toggle = (name: string) => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    onChange(next);
  };
  return (
    <fieldset className="field">
      <legend>Fields</legend>
      <div className="filters">
        <input
          className="input"
          type="search"
          placeholder="Find a field"
          aria-label="Find a field"
          value={query}
          onChange={({ target }) => setQuery(target.value)}
        />
      </div>
      <div className="field-list">
        {shown.map((field) => (
          <label key={field.name} className="field-choice">
            <input type="checkbox" checked={chosen.has(field.name)} onChange={() => toggle(field.name)} />
            <span className="breaks">
              {field.name}
              {field.label !== field.name && <span className="muted small"> {field.label}</span>}
              <span className="muted small mono">
                {" "}
                → {field.name.toLowerCase()} {field.pg_type}
              </span>
            </span>
            <span className="tags">
              <Marks field={field} />
            </span>
          </label>
        ))}
        {shown.length === 0 && <p className="muted small">No field has this name.</p>}
      </div>
      <div className="acts small">
        <span className="muted">
          {counted(chosen.size, "field")} chosen. The table has {OWN_COLUMNS.join(", ")} as well.
        </span>
        <Button
          compact
          kind="plain"
          onClick={() => onChange(new Set(choosable.filter(({ required }) => required).map(({ name }) => name)))}
        >
          Required only
        </Button>
        <Button compact kind="plain" onClick={() => onChange(new Set(choosable.map(({ name }) => name)))}>
          All
        </Button>
      </div>
    </fieldset>
  );
}

/** What a mapping needs comes first. */
const rankOf = ({ required, external_id }: Field): number => (required ? 0 : external_id ? 1 : 2);

function Marks({ field }: { readonly field: Field }) {
  const marks = [
    field.type,
    field.required && "required",
    field.external_id && "external id",
    field.unique && !field.external_id && "unique",
    field.calculated && "formula",
    !field.createable && !field.updateable && !field.calculated && "read-only",
    field.reference_to.length > 0 && `→ ${field.reference_to.slice(0, 2).join(", ")}`,
  ].filter((mark): mark is string => typeof mark === "string");
  return marks.map((mark) => (
    <span
      key={mark}
      className="tag"
      title={
        mark === "formula"
          ? "What other records change in it arrives with the record's next own change, or within a day."
          : undefined
      }
    >
      {mark}
    </span>
  ));
}
