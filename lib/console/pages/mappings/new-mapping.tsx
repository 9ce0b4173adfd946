import type { CreateMappingBody, CreateMappingData, ReadObjectData } from "bridge/api";
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
import { CallsPreview } from "./cost.tsx";
import { FieldPicker } from "./fields.tsx";
import { proposedFields, proposedUpsertField, tableOf } from "./preview.ts";
import { DEFAULT_SETTINGS, MainSettings, MoreSettings } from "./settings.tsx";

/** Makes a mapping: an object, then its fields, and what that will come to. */
export function NewMapping() {
  return (
    <Page title="New mapping" says="Choose an object, then its fields. The table is created for you, and filled.">
      <Needs scope="admin" what="Mappings">
        <ChooseObject />
      </Needs>
    </Page>
  );
}

/** The object comes first: what else there is to choose depends on it. */
function ChooseObject() {
  const objects = useAnswer(questions.objects);
  const mappings = useAnswer(questions.mappings);
  const [name, setName] = useState<string | null>(null);
  const described = useAnswer(questions.object(name ?? ""), { when: name !== null });
  if (objects.error) return <NoObjects error={objects.error} again={() => void objects.refetch()} />;
  const mapped = new Set(mappings.data?.data.map(({ sf_object }) => sf_object));
  const options = (objects.data?.data ?? [])
    .filter((object) => object.queryable && !mapped.has(object.name))
    .map((object) => ({ value: object.name, label: object.label }));
  return (
    <>
      <Card title="Object">
        <Picker
          label="Object"
          options={options}
          value={name}
          onChange={setName}
          placeholder={objects.isPending ? "Asking the org…" : "Contact"}
          hint="Type a part of its name. Mapped objects are not listed."
        />
      </Card>
      {described.error && <Trouble error={described.error} again={() => void described.refetch()} />}
      {name !== null && described.isPending && <Bones lines={6} />}
      {described.data && <Form key={name} object={described.data.data} />}
    </>
  );
}

function Form({ object }: { readonly object: ReadObjectData }) {
  const [chosen, setChosen] = useState(proposedFields(object.fields));
  const [table, setTable] = useState("");
  const [settings, setSettings] = useState({ ...DEFAULT_SETTINGS, upsert_field: proposedUpsertField(object.fields) });
  const [active, setActive] = useState(true);
  const say = useSay();
  const create = useAct<CreateMappingData, CreateMappingBody>((body) => ({ method: "POST", path: "/mappings", body }));
  const wrong = (path: string) => detailOf(create.error, path);
  const of = { value: settings, onChange: setSettings, wrong };

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const body = {
      sf_object: object.name,
      ...(table && { pg_table: table }),
      fields: [...chosen],
      active,
      ...settings,
    };
    create.mutate(body, {
      onSuccess: ({ data }) => {
        say.done(`${data.sf_object} is being set up`, "Its table is created now, then every record is read once.");
        go(hrefOf(`/mappings/${data.id}`));
      },
    });
  };

  return (
    <form className="stack" onSubmit={submit}>
      <Card title="Fields and columns">
        <FieldPicker fields={object.fields} chosen={chosen} onChange={setChosen} />
      </Card>
      <Card title="Rows and records">
        <div className="stack">
          <MainSettings {...of} object={object} chosen={chosen} />
          <Field
            label="Table"
            value={table}
            onChange={({ target }) => setTable(target.value)}
            placeholder={tableOf(object.name)}
            wrong={wrong("pg_table")}
            spellCheck={false}
            hint="Empty: the object's name. An existing table is adopted: nothing in it is dropped or narrowed."
          />
          <details>
            <summary>More settings</summary>
            <div className="stack">
              <MoreSettings {...of} />
              <Check label="Start at once" checked={active} onChange={({ target }) => setActive(target.checked)} />
            </div>
          </details>
        </div>
      </Card>
      <CallsPreview settings={settings} />
      {create.error && <Trouble error={create.error} title="The mapping was not created." />}
      <div className="acts">
        <Button kind="primary" type="submit" busy={create.isPending} disabled={chosen.size === 0}>
          Create mapping
        </Button>
        <a className="button plain" href={hrefOf("/mappings")}>
          Cancel
        </a>
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
