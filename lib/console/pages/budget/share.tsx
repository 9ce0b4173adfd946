import type { ChangeBudgetBody, ChangeBudgetData, ReadBudgetData } from "bridge/api";
import { type FormEvent, useState } from "react";
import { useScopes } from "../../api/scopes.ts";
import { useAct } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { useSay } from "../../parts/toast.tsx";
import { Notice, Trouble } from "../../parts/trouble.tsx";
import { count, duration } from "../../parts/words.ts";
import { detailOf } from "../mappings/new-mapping.tsx";

/** What Bridge may make of the org's calls, and how often it asks about mappings without changes. */
export function Share({ budget }: { readonly budget: ReadBudgetData }) {
  const [share, setShare] = useState(String(Math.round(budget.calls_share * 1000) / 10));
  const [most, setMost] = useState(budget.most_calls === null ? "" : String(budget.most_calls));
  const [quiet, setQuiet] = useState(budget.when_quiet_seconds);
  const { refusal } = useScopes();
  const say = useSay();
  const change = useAct<ChangeBudgetData, ChangeBudgetBody>((body) => ({
    method: "PATCH",
    path: "/monitoring/budget",
    body,
  }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate(
      { calls_share: Number(share) / 100, most_calls: most === "" ? null : Number(most), when_quiet_seconds: quiet },
      { onSuccess: () => say.done("The share is changed", "It holds within a minute.") },
    );
  };
  const { presets } = budget;
  const own = { when_quiet_seconds: budget.when_quiet_seconds, calls_per_day: budget.forecast_calls_per_day };
  const isPriced = presets.some(({ when_quiet_seconds }) => when_quiet_seconds === own.when_quiet_seconds);
  const choices = isPriced ? presets : [...presets, own];
  const cost = choices.find(({ when_quiet_seconds }) => when_quiet_seconds === quiet)?.calls_per_day ?? 0;
  const more = cost - budget.forecast_calls_per_day;
  return (
    <form className="form" onSubmit={submit}>
      <Field
        label="Part of the org's calls (%)"
        type="number"
        min={0.1}
        max={100}
        step={0.1}
        required
        value={share}
        onChange={({ target }) => setShare(target.value)}
        wrong={detailOf(change.error, "calls_share")}
      />
      <Field
        label="And no more than, a day"
        type="number"
        min={1}
        value={most}
        onChange={({ target }) => setMost(target.value)}
        wrong={detailOf(change.error, "most_calls")}
        hint="Empty: whatever the part is."
      />
      <Choice
        label="Mappings without changes for five minutes"
        value={quiet ?? ""}
        onChange={({ target }) => setQuiet(target.value === "" ? null : Number(target.value))}
        hint="From the first change on they are pulled at full pace again."
      >
        {choices.map(({ when_quiet_seconds: seconds, calls_per_day }) => (
          <option key={seconds} value={seconds ?? ""}>
            {seconds === null ? "as others" : `every ${duration(seconds)}`}: {count(calls_per_day)} calls a day
          </option>
        ))}
      </Choice>
      {more > 0 && (
        <Notice tone="warn" title={`Costs ${count(more)} calls a day more than now`}>
          {count(cost)} a day while nothing changes.
        </Notice>
      )}
      {change.error && <Trouble error={change.error} title="The share was not changed." />}
      <div className="acts">
        <Button kind="primary" type="submit" busy={change.isPending} refused={refusal("admin")}>
          Save
        </Button>
      </div>
    </form>
  );
}
