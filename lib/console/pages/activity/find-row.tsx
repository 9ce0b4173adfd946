import { useState } from "react";
import { questions } from "../../api/questions.ts";
import { useAnswer } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Choice, Field } from "../../parts/field.tsx";
import { go, hrefOf } from "../../route.ts";

/** Asks which row, and goes to its page. */
export function FindRow({ onClose }: { readonly onClose: () => void }) {
  const { data } = useAnswer(questions.mappings);
  const [key, setKey] = useState("");
  const [table, setTable] = useState("-");
  const [wrong, setWrong] = useState<string | undefined>();
  const mappings = data?.data ?? [];
  const isNumber = /^\d+$/.test(key.trim());
  const find = () => {
    if (key.trim() === "") return setWrong("Type what the row is known by.");
    if (table === "-" && isNumber && mappings.length > 1)
      return setWrong("Choose the table: each has a row of this key.");
    onClose();
    go(hrefOf(`/rows/${encodeURIComponent(table)}`, { key: key.trim() }));
  };
  return (
    <Dialog open onClose={onClose} title="Find a row">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          find();
        }}
      >
        <Field
          label="Record id, key or upsert value"
          hint="The id of its record in Salesforce, the row's own key, or its value of the upsert field."
          value={key}
          wrong={wrong}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => {
            setKey(target.value);
            setWrong(undefined);
          }}
        />
        <Choice
          label="Table"
          value={table}
          onChange={({ target }) => setTable(target.value)}
          options={[["-", "Any table"], ...mappings.map(({ pg_table }) => [pg_table, pg_table] as const)]}
        />
        <div className="acts">
          <Button kind="primary" type="submit">
            Find
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
