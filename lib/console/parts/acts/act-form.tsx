import { type ChangeEvent, type ReactNode, useState } from "react";
import { Refused } from "../../api/ask.ts";
import { Button } from "../button.tsx";
import { Trouble } from "../trouble.tsx";

interface ActFormProps {
  /** The act, as `useAct` gives it. */
  readonly act: { readonly error: Error | null; readonly isPending: boolean };
  readonly onSubmit: () => void;
  /** The button's words, those of the act. */
  readonly button: string;
  /** The title of a refusal; without one it is shown elsewhere. */
  readonly failed?: string;
  readonly refused?: string | null;
  /** Other buttons, before that of the act and behind it. */
  readonly before?: ReactNode;
  readonly behind?: ReactNode;
  /** Of cards instead of fields. */
  readonly ofCards?: boolean;
  readonly children: ReactNode;
}

/** A form that does one act: its fields, what was said against the act, and its button. */
export function ActForm({
  act,
  onSubmit,
  button,
  failed,
  refused,
  before,
  behind,
  ofCards = false,
  children,
}: ActFormProps) {
  return (
    <form
      className={ofCards ? "stack" : "form"}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      {failed && act.error && <Trouble error={act.error} title={failed} />}
      <div className="acts">
        {before}
        <Button kind="primary" type="submit" busy={act.isPending} refused={refused}>
          {button}
        </Button>
        {behind}
      </div>
    </form>
  );
}

/** The texts of a form, and what ties a field to the text of its name and to what the act's refusal says of it. */
export function useFields<Name extends string>(initial: Readonly<Record<Name, string>>, error: Error | null = null) {
  const [texts, setTexts] = useState(initial);
  const field = (name: Name) => ({
    value: texts[name],
    onChange: ({ target: { value } }: ChangeEvent<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>) =>
      setTexts((before) => ({ ...before, [name]: value })),
    wrong: detailOf(error, name),
  });
  return { texts, field };
}

/** What the API said of one part of the body: `body.upsert_field`. */
export function detailOf(error: Error | null, path: string): string | undefined {
  if (!(error instanceof Refused)) return undefined;
  return error.details.find((detail) => detail.path === `body.${path}`)?.message;
}
