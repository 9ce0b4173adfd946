import type { ReadConnectionsData, SetPostgresBody, SetPostgresData } from "bridge/api";
import { type ReactNode, useState } from "react";
import { Refused } from "../../api/ask.ts";
import { useAct } from "../../api/use.ts";
import { ActForm, useFields } from "../../parts/acts/act-form.tsx";
import { Check, Field } from "../../parts/field.tsx";
import { useSay } from "../../parts/toast.tsx";
import { ConnectionCard } from "./connection-card.tsx";
import { Findings } from "./findings.tsx";

type Connection = ReadConnectionsData["postgres"];

/** The database. */
export function PostgresCard({ connection }: { readonly connection: Connection }) {
  return (
    <ConnectionCard
      title="PostgreSQL"
      noun="database"
      testPath="/connections/postgres/test"
      facts={connection && <Facts connection={connection} />}
      form={(onDone, cancel) => <Form onDone={onDone} cancel={cancel} />}
    />
  );
}

function Facts({
  connection: { host, port, database, user, schema, schema_changes },
}: {
  readonly connection: NonNullable<Connection>;
}) {
  return (
    <>
      <dt>Host</dt>
      <dd>
        {host}:{port}
      </dd>
      <dt>Database</dt>
      <dd>{database}</dd>
      <dt>User</dt>
      <dd>{user}</dd>
      <dt>Schema</dt>
      <dd className="mono">{schema}</dd>
      <dt>Mapped tables</dt>
      <dd>{schema_changes === "propose" ? "changed by the application's migrations" : "changed by Bridge"}</dd>
    </>
  );
}

function Form({ onDone, cancel }: { readonly onDone: () => void; readonly cancel: ReactNode }) {
  const connect = useAct<SetPostgresData, SetPostgresBody>((body) => ({
    method: "PUT",
    path: "/connections/postgres",
    body,
  }));
  const { texts, field } = useFields({ url: "", schema: "salesforce" }, connect.error);
  const [takesOver, setTakesOver] = useState(false);
  const say = useSay();
  const refused = connect.data && !connect.data.data.ok ? connect.data.data : null;
  const belongsElsewhere = connect.error instanceof Refused && connect.error.code === "CONFLICT";
  const body = { ...texts, url: texts.url.trim(), ...(takesOver && { take_over: true }) };
  const onSuccess = ({ data }: { readonly data: SetPostgresData }) => {
    if (!data.ok) return;
    say.done("The database is connected");
    onDone();
  };
  return (
    <ActForm
      act={connect}
      onSubmit={() => connect.mutate(body, { onSuccess })}
      button="Connect database"
      failed="The database was not connected."
      behind={cancel}
    >
      <Field
        label="Database URL"
        {...field("url")}
        required
        spellCheck={false}
        autoComplete="off"
        placeholder="postgres://user:password@host:5432/database?sslmode=verify-full"
        hint="It is stored encrypted and never shown again. The user needs CREATE on the database or on the schema, and nothing else."
      />
      <Field
        label="Schema"
        {...field("schema")}
        required
        spellCheck={false}
        hint="It is created if it does not exist. A schema belongs to one workspace."
      />
      {(belongsElsewhere || takesOver) && (
        <Check
          label="Take over the schema from another workspace"
          hint="Only when that workspace is no longer used: its sync ends."
          checked={takesOver}
          onChange={({ target }) => setTakesOver(target.checked)}
        />
      )}
      {refused && <Findings report={refused} />}
    </ActForm>
  );
}
