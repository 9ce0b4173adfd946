import type { ChangeBudgetBody, ChangeBudgetData, ReadBudgetData } from "bridge/api";
import { type FormEvent, useState } from "react";
import { useScopes } from "../../api/scopes.ts";
import { useAct } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { useSay } from "../../parts/toast.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { duration } from "../../parts/words.ts";
import { detailOf } from "../mappings/new-mapping.tsx";

/** Seconds between pulls of mappings without changes; null: as of others. */
const INTERVALS = [null, 60, 600];

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
        {[...new Set([...INTERVALS, budget.when_quiet_seconds])].map((seconds) => (
          <option key={seconds} value={seconds ?? ""}>
            {seconds === null ? "as others" : `every ${duration(seconds)}`}
          </option>
        ))}
      </Choice>
      {change.error && <Trouble error={change.error} title="The share was not changed." />}
      <div className="acts">
        <Button kind="primary" type="submit" busy={change.isPending} refused={refusal("admin")}>
          Save
        </Button>
      </div>
    </form>
  );
}
