import type { ChangeBudgetBody, ChangeBudgetData, ReadBudgetData } from "bridge/api";
import { useScopes } from "../../api/scopes.ts";
import { useAct } from "../../api/use.ts";
import { ActForm, useFields } from "../../parts/acts/act-form.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { useSay } from "../../parts/toast.tsx";
import { duration } from "../../parts/words.ts";

/** Seconds between pulls of mappings without changes; null: as of others. */
const INTERVALS = [null, 60, 600];

/** What Bridge may make of the org's calls, and how often it asks about mappings without changes. */
export function Share({ budget }: { readonly budget: ReadBudgetData }) {
  const change = useAct<ChangeBudgetData, ChangeBudgetBody>((body) => ({
    method: "PATCH",
    path: "/monitoring/budget",
    body,
  }));
  const { texts, field } = useFields(
    {
      calls_share: String(Math.round(budget.calls_share * 1000) / 10),
      most_calls: String(budget.most_calls ?? ""),
      when_quiet_seconds: String(budget.when_quiet_seconds ?? ""),
    },
    change.error,
  );
  const { refusal } = useScopes();
  const say = useSay();
  const numberIn = (text: string) => (text === "" ? null : Number(text));
  const submit = () =>
    change.mutate(
      {
        calls_share: Number(texts.calls_share) / 100,
        most_calls: numberIn(texts.most_calls),
        when_quiet_seconds: numberIn(texts.when_quiet_seconds),
      },
      { onSuccess: () => say.done("The share is changed", "It holds within a minute.") },
    );
  return (
    <ActForm
      act={change}
      onSubmit={submit}
      button="Save"
      failed="The share was not changed."
      refused={refusal("admin")}
    >
      <Field
        label="Share of the org's calls (%)"
        type="number"
        min={0.1}
        max={100}
        step={0.1}
        required
        {...field("calls_share")}
      />
      <Field
        label="Most calls per day"
        type="number"
        min={1}
        {...field("most_calls")}
        hint="Empty: no other limit than the share."
      />
      <Choice
        label="Mappings without changes for five minutes"
        {...field("when_quiet_seconds")}
        hint="From the first change on they are pulled at full pace again."
        options={[...new Set([...INTERVALS, budget.when_quiet_seconds])].map((seconds) =>
          seconds === null ? ["", "as others"] : [String(seconds), `every ${duration(seconds)}`],
        )}
      />
    </ActForm>
  );
}
