import type { NudgeData, WriteRowBody, WriteRowData } from "bridge/api";
import { Send } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { Refused } from "../../api/ask.ts";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { queries, useAct, useAnswer } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";
import { useSay } from "../../parts/toast.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { sentence } from "../../parts/words.ts";
import { explain } from "./explain.ts";

interface CorrectProps {
  readonly table: string;
  readonly recordId: number;
  /** The refused columns, each with what its field takes where that is known. */
  readonly columns: readonly { readonly column: string; readonly rule?: string }[];
  /** What the row holds of them. */
  readonly shown: Readonly<Record<string, string | null>>;
  /** A second way, behind the button. */
  readonly behind?: ReactNode;
  /** Follows the change elsewhere, where this may leave before its end. */
  readonly onSaved?: (changeId: number) => void;
}

/** Fields for the refused values of a row; what is saved is sent, and followed to Salesforce's word. */
export function Correct({ table, recordId, columns, shown, behind, onSaved }: CorrectProps) {
  const { refusal } = useScopes();
  const [was] = useState(shown);
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const values = Object.fromEntries(
    columns.map(({ column }) => [
      column,
      (texts[column] ?? was[column] ?? "") === "" ? null : (texts[column] ?? was[column] ?? ""),
    ]),
  );
  const changed = columns.map(({ column }) => column).filter((column) => values[column] !== (was[column] ?? null));
  const only = (all: Readonly<Record<string, string | null>>) =>
    Object.fromEntries(changed.map((column) => [column, all[column] ?? null]));
  const nudge = useAct<NudgeData>(() => ({ method: "POST", path: "/nudge", query: { table } }));
  const save = useAct<WriteRowData>(() => ({
    method: "PATCH",
    path: `/rows/${encodeURIComponent(table)}/${recordId}`,
    body: { values: only(values), was: only(was) } satisfies WriteRowBody,
  }));
  const details = save.error instanceof Refused ? save.error.details : [];
  const wrongIn = (column: string) => details.find(({ path }) => path === `body.values.${column}`)?.message;
  if (save.data && !onSaved) return <Follow id={save.data.data.change_id} again={save.reset} />;
  return (
    <form
      className="stack tight"
      onSubmit={(event) => {
        event.preventDefault();
        // The next beat sends it where there is no cycle to wake.
        save.mutate(undefined, {
          onSuccess: ({ data }) => {
            nudge.mutate();
            onSaved?.(data.change_id);
          },
        });
      }}
    >
      {columns.map(({ column, rule }) => (
        <Field
          key={column}
          label={<span className="mono">{column}</span>}
          hint={rule && `It takes ${rule}.`}
          wrong={wrongIn(column)}
          value={texts[column] ?? was[column] ?? ""}
          placeholder={was[column] === null ? "NULL" : undefined}
          aria-label={`${column} of row ${recordId}`}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setTexts((before) => ({ ...before, [column]: target.value }))}
        />
      ))}
      {save.error && details.length === 0 && <Trouble error={save.error} />}
      <div className="acts">
        <Button
          kind="primary"
          type="submit"
          compact={behind === undefined}
          busy={save.isPending}
          icon={<Send size={14} aria-hidden />}
          refused={refusal("operate") ?? (changed.length === 0 ? "Change the value first." : null)}
        >
          Save and send
        </Button>
        {behind}
      </div>
    </form>
  );
}

/** How far a change is, until Salesforce has accepted or refused it. */
export function Follow({ id, again }: { readonly id: number; readonly again: () => void }) {
  const [isOver, setIsOver] = useState(false);
  const { data } = useAnswer(questions.change(String(id)), isOver ? {} : { everySeconds: 1 });
  const change = data?.data;
  const isTaken = change?.state === "SUCCESS";
  const say = useSay();
  const hasEnded = change !== undefined && change.synced_at !== null;
  useEffect(() => {
    if (!hasEnded || isOver) return;
    setIsOver(true);
    if (isTaken) say.done("Saved", "Salesforce took it.");
    void queries.invalidateQueries();
  }, [hasEnded, isOver, isTaken, say]);
  const error = change?._ab_err ?? null;
  return (
    <div className="stack tight" role="status">
      {isTaken && <p>Saved, and Salesforce took it.</p>}
      {change?.state === "FAILED" && (
        <>
          <p>{explain(error) ?? sentence(`Salesforce refused it: ${error}`)}</p>
          <div className="acts">
            <Button compact onClick={again}>
              Correct it again
            </Button>
          </div>
        </>
      )}
      {!hasEnded && <p>{error === null ? "Saved. It is being sent …" : sentence(`Saved, and it waits: ${error}`)}</p>}
    </div>
  );
}
