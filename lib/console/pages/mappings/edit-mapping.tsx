import type { ReadMappingData, UpdateMappingBody, UpdateMappingData } from "bridge/api";
import { type FormEvent, useState } from "react";
import type { Reply } from "../../api/ask.ts";
import { questions } from "../../api/questions.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { detailOf } from "../../parts/acts/act-form.tsx";
import { Button } from "../../parts/button.tsx";
import { Bones, Card, Page } from "../../parts/page.tsx";
import { useSay } from "../../parts/toast.tsx";
import { Needs } from "../../parts/too-small.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { go, hrefOf } from "../../route.ts";
import { CallsPreview } from "./cost.tsx";
import { FieldPicker } from "./fields.tsx";
import { ALWAYS_SYNCED } from "./preview.ts";
import { MainSettings, type MappingSettings, MoreSettings } from "./settings.tsx";

/** Changes a mapping's fields and settings; refused when another change came first. */
export function EditMapping({ id }: { readonly id: string }) {
  const { data, error, refetch } = useAnswer(questions.mapping(id));
  const name = data?.data.sf_object;
  return (
    <Page title={name ? `Change ${name}` : "Change mapping"}>
      <Needs scope="admin" what="Mappings">
        {error && !data && <Trouble error={error} again={() => void refetch()} />}
        {!data && !error && <Bones lines={8} />}
        {data && <Form key={id} before={data} />}
      </Needs>
    </Page>
  );
}

function Form({ before: given }: { readonly before: Reply<ReadMappingData> }) {
  const [before] = useState(given); // what was read first: polling must not change what is being edited
  const mapping = before.data;
  const described = useAnswer(questions.object(mapping.sf_object));
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    new Set(mapping.fields.filter((name) => !ALWAYS_SYNCED.includes(name))),
  );
  const { sync_direction, sf_polling_seconds, when_quiet_seconds, upsert_field, conflict_policy } = mapping;
  const { sf_notify_enabled, delete_limit, batch_size, filter } = mapping;
  const [settings, setSettings] = useState<MappingSettings>({
    sync_direction,
    sf_polling_seconds,
    when_quiet_seconds,
    sf_notify_enabled,
    upsert_field,
    conflict_policy,
    delete_limit,
    batch_size,
    filter,
  });
  const say = useSay();
  const update = useAct<UpdateMappingData, UpdateMappingBody>((body) => ({
    method: "PATCH",
    path: `/mappings/${mapping.id}`,
    body,
    ifMatch: before.etag ?? undefined,
  }));
  const object = described.data?.data;
  const of = { value: settings, onChange: setSettings, wrong: (path: string) => detailOf(update.error, path) };
  const lost = mapping.fields.filter((name) => !chosen.has(name) && !ALWAYS_SYNCED.includes(name));

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const always = mapping.fields.filter((name) => ALWAYS_SYNCED.includes(name));
    update.mutate(
      { ...settings, fields: [...chosen, ...always] },
      {
        onSuccess: () => {
          say.done(`${mapping.sf_object} is changed`, "New columns are added and filled while the cycles continue.");
          go(hrefOf(`/mappings/${mapping.id}`));
        },
      },
    );
  };

  return (
    <form className="stack" onSubmit={submit}>
      <Card title="Fields">
        {described.error && <Trouble error={described.error} again={() => void described.refetch()} />}
        {described.isPending && <Bones lines={6} />}
        {object && <FieldPicker fields={object.fields} chosen={chosen} onChange={setChosen} />}
        {lost.length > 0 && (
          <p className="small muted">{lost.join(", ")} will no longer be synced; the column and its values stay.</p>
        )}
      </Card>
      <Card title="Sync settings">
        <div className="stack">
          {object && <MainSettings {...of} object={object} chosen={chosen} />}
          <MoreSettings {...of} />
        </div>
      </Card>
      <CallsPreview settings={settings} except={mapping.id} />
      {update.error && <Trouble error={update.error} title="The mapping was not changed." />}
      <div className="acts">
        <Button kind="primary" type="submit" busy={update.isPending} disabled={chosen.size === 0}>
          Save changes
        </Button>
        <a className="button plain" href={hrefOf(`/mappings/${mapping.id}`)}>
          Cancel
        </a>
      </div>
    </form>
  );
}
