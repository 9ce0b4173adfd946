import { type ComponentProps, type ReactNode, useId } from "react";

interface Labelled {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  /** What is wrong with the value, and how it would be right. */
  readonly wrong?: string | undefined;
}

type InputProps = Labelled & Omit<ComponentProps<"input">, "id">;

/** A line of text with its name, a hint and what is wrong with it. */
export function Field({ label, hint, wrong, ...rest }: InputProps) {
  return (
    <Frame label={label} hint={hint} wrong={wrong}>
      {(ties) => <input {...rest} {...ties} className="input" />}
    </Frame>
  );
}

/** Several lines of text. */
export function TextField({ label, hint, wrong, ...rest }: Labelled & Omit<ComponentProps<"textarea">, "id">) {
  return (
    <Frame label={label} hint={hint} wrong={wrong}>
      {(ties) => <textarea {...rest} {...ties} className="input mono" spellCheck={false} />}
    </Frame>
  );
}

interface ChoiceProps extends Labelled, Omit<ComponentProps<"select">, "id" | "children"> {
  /** Values and their words. */
  readonly options: readonly (readonly [value: string, words: string])[];
}

/** One of few. */
export function Choice({ label, hint, wrong, options, ...rest }: ChoiceProps) {
  return (
    <Frame label={label} hint={hint} wrong={wrong}>
      {(ties) => (
        <select {...rest} {...ties} className="input">
          {options.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Frame>
  );
}

interface Ties {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean | undefined;
}

function Frame({ label, hint, wrong, children }: Labelled & { readonly children: (ties: Ties) => ReactNode }) {
  const id = useId();
  const described = [hint && `${id}-hint`, wrong && `${id}-wrong`].filter(Boolean).join(" ");
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-describedby": described || undefined, "aria-invalid": wrong ? true : undefined })}
      {hint && (
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
      {wrong && (
        <span className="wrong" id={`${id}-wrong`} role="alert">
          {wrong}
        </span>
      )}
    </div>
  );
}

interface CheckProps extends Omit<ComponentProps<"input">, "type" | "children"> {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
}

/** Yes or no. */
export function Check({ label, hint, ...rest }: CheckProps) {
  return (
    <label className="check">
      <input type="checkbox" {...rest} />
      <span>{label}</span>
      {hint && <span className="hint muted small">{hint}</span>}
    </label>
  );
}
