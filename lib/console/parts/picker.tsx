import { Combobox } from "@base-ui/react/combobox";
import { type ReactNode, useId } from "react";

interface Option {
  readonly value: string;
  readonly label: string;
}

interface PickerProps {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly options: readonly Option[];
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
  readonly placeholder?: string;
  readonly disabled?: boolean;
}

/** One of many, found by typing a part of its name. */
export function Picker({ label, hint, options, value, onChange, placeholder, disabled }: PickerProps) {
  const id = useId();
  const chosen = options.find((option) => option.value === value) ?? null;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <Combobox.Root
        items={options}
        value={chosen}
        onValueChange={(option: Option | null) => onChange(option?.value ?? null)}
        isItemEqualToValue={(one: Option, other: Option) => one.value === other.value}
        itemToStringLabel={(option: Option) => option.value}
        filter={(option: Option, query: string) => matches(option, query)}
        disabled={disabled ?? false}
        autoHighlight
        limit={200}
      >
        <Combobox.Input
          id={id}
          className="input"
          placeholder={placeholder}
          aria-describedby={hint ? `${id}-hint` : undefined}
        />
        <Combobox.Portal>
          <Combobox.Positioner sideOffset={4} side="bottom" align="start">
            <Combobox.Popup className="popup as-wide">
              <Combobox.Empty>
                <div className="choice muted">Nothing is called so.</div>
              </Combobox.Empty>
              <Combobox.List>
                {(option: Option) => (
                  <Combobox.Item key={option.value} value={option} className="choice">
                    <span>{option.value}</span>
                    {option.label !== option.value && <span className="aside">{option.label}</span>}
                  </Combobox.Item>
                )}
              </Combobox.List>
            </Combobox.Popup>
          </Combobox.Positioner>
        </Combobox.Portal>
      </Combobox.Root>
      {hint && (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

const matches = ({ value, label }: Option, query: string): boolean =>
  `${value} ${label}`.toLowerCase().includes(query.trim().toLowerCase());
