import { Refused } from "../../api/ask.ts";
import { questions } from "../../api/questions.ts";
import { useSettled } from "../../api/settled.ts";
import { useAnswer } from "../../api/use.ts";
import { Field } from "../../parts/field.tsx";
import { counted } from "../../parts/words.ts";

interface FilterFieldProps {
  readonly object: string;
  readonly value: string | null;
  readonly onChange: (filter: string | null) => void;
  readonly wrong: string | undefined;
}

/** A filter, with how many records match while it is typed, or why it is not understood. */
export function FilterField({ object, value, onChange, wrong }: FilterFieldProps) {
  const asked = useSettled(value?.trim() ?? "", SETTLED_MILLISECONDS);
  const isAsked = asked !== "" && asked === (value?.trim() ?? "");
  const { data, error } = useAnswer(questions.matching(object, asked), { when: isAsked, once: true });
  const isWrong = isAsked && error instanceof Refused && error.code === "VALIDATION_ERROR";
  const found = data?.data.matching;
  const hint = !value
    ? "Empty: all of them."
    : !isAsked || (!data && !error)
      ? "Counting …"
      : found == null
        ? "Salesforce has not counted what matches."
        : `${counted(found, "record matches", "records match")} now.`;
  return (
    <Field
      label="Only records that match (SOQL condition)"
      value={value ?? ""}
      onChange={({ target }) => onChange(target.value || null)}
      wrong={isWrong ? error.message : wrong}
      placeholder="Industry = 'Energy' AND IsActive__c = TRUE"
      spellCheck={false}
      hint={isWrong ? undefined : hint}
    />
  );
}

/** So long nothing more was typed: each count costs the org two calls. */
const SETTLED_MILLISECONDS = 500;
