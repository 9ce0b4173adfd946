import type { CreateMappingBody, CreateMappingData } from "bridge/api";
import { type FormEvent, useState } from "react";
import { Refused } from "../../api/ask.ts";
import { questions } from "../../api/questions.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { detailOf } from "../../parts/acts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { Check, Field } from "../../parts/field.tsx";
import { Bones, Card, Page } from "../../parts/page.tsx";
import { Picker } from "../../parts/picker.tsx";
import { useSay } from "../../parts/toast.tsx";
import { Needs } from "../../parts/too-small.tsx";
import { Notice, Trouble } from "../../parts/trouble.tsx";
import { go, hrefOf } from "../../route.ts";
import { CallsPreview, TablePreview } from "./cost.tsx";
import { FieldPicker } from "./fields.tsx";
import { tableOf } from "./preview.ts";
import { DEFAULT_SETTINGS, SettingsFields } from "./settings.tsx";

/** Makes a mapping: an object, its fields, and what that will come to. */
export function NewMapping() {
  return (
    <Page title="New mapping" says="Choose an object and its fields. The table is created for you, and filled.">
      <Needs scope="admin" what="Mappings">
        <Form />
      </Needs>
    </Page>
  );
}

function Form() {
  const objects = useAnswer(questions.objects);
  const mappings = useAnswer(questions.mappings);
  const [object, setObject] = useState<string | null>(null);
  const described = useAnswer(questions.object(object ?? ""), { when: object !== null });
  const [chosen, setChosen] = useState<ReadonlySet<string> | null>(null);
  const [table, setTable] = useState("");
  const [settings, setSettings] = useState(DEFAULT_SETTINGS);
  const [active, setActive] = useState(true);
  const say = useSay();
  const create = useAct<CreateMappingData, CreateMappingBody>((body) => ({ method: "POST", path: "/mappings", body }));

  const fields = described.data?.data.fields ?? [];
  const selected =
    chosen ?? new Set(fields.filter(({ required, mappable }) => required && mappable).map(({ name }) => name));
  const picked = fields.filter(({ name }) => selected.has(name));
  const wrong = (path: string) => detailOf(create.error, path);

  if (objects.error) return <NoObjects error={objects.error} again={() => void objects.refetch()} />;
  const mapped = new Set(mappings.data?.data.map(({ sf_object }) => sf_object));
  const options = (objects.data?.data ?? [])
    .filter(({ queryable, name }) => queryable && !mapped.has(name))
    .map(({ name, label }) => ({ value: name, label }));

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (object === null) return;
    const body = { sf_object: object, ...(table && { pg_table: table }), fields: [...selected], active, ...settings };
    create.mutate(body, {
      onSuccess: ({ data }) => {
        say.done(`${data.sf_object} is being set up`, "Its table is created now, then every record is read once.");
        go(hrefOf(`/mappings/${data.id}`));
      },
    });
  };

  return (
    <form className="split" onSubmit={submit}>
      <div className="stack">
        <Card title="Object and fields">
          <div className="form">
            <Picker
              label="Object"
              options={options}
              value={object}
              onChange={(value) => {
                setObject(value);
                setChosen(null);
                setSettings(DEFAULT_SETTINGS);
              }}
              placeholder={objects.isPending ? "Asking the org…" : "Contact"}
              hint="Type a part of its name. Mapped objects are not listed."
            />
            {described.error && <Trouble error={described.error} again={() => void described.refetch()} />}
            {object !== null && described.isPending && <Bones lines={6} />}
            {described.data && <FieldPicker fields={fields} chosen={selected} onChange={setChosen} />}
          </div>
        </Card>
        <Card title="Sync settings">
          <div className="form">
            <SettingsFields value={settings} onChange={setSettings} chosen={picked} wrong={wrong} />
            <Field
              label="Table"
              value={table}
              onChange={({ target }) => setTable(target.value)}
              placeholder={object ? tableOf(object) : "contact"}
              wrong={wrong("pg_table")}
              spellCheck={false}
              hint="Empty: the object's name. An existing table is adopted: nothing in it is dropped or narrowed."
            />
            <Check label="Start at once" checked={active} onChange={({ target }) => setActive(target.checked)} />
          </div>
        </Card>
        {create.error && <Trouble error={create.error} title="The mapping was not created." />}
        <div className="acts">
          <Button
            kind="primary"
            type="submit"
            busy={create.isPending}
            disabled={object === null || selected.size === 0}
          >
            Create mapping
          </Button>
          <a className="button plain" href={hrefOf("/mappings")}>
            Cancel
          </a>
        </div>
      </div>
      <div className="stack">
        <CallsPreview settings={settings} />
        <TablePreview table={table || (object ? tableOf(object) : "")} fields={picked} />
      </div>
    </form>
  );
}

function NoObjects({ error, again }: { readonly error: Error; readonly again: () => void }) {
  if (!(error instanceof Refused) || error.status === 0) return <Trouble error={error} again={again} />;
  return (
    <Notice
      tone="warn"
      title="The org's objects could not be read."
      acts={
        <>
          <a className="button compact" href={hrefOf("/connections")}>
            Look at the connections
          </a>
          <Button compact onClick={again}>
            Try again
          </Button>
        </>
      }
    >
      {error.message}
    </Notice>
  );
}
