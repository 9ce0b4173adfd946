import type { ReadConnectionsData, SetPostgresBody, SetPostgresData } from "bridge/api";
import { type FormEvent, useState } from "react";
import { Refused } from "../../api/ask.ts";
import { useAct } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Check, Field } from "../../parts/field.tsx";
import { useSay } from "../../parts/toast.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { detailOf } from "../mappings/new-mapping.tsx";
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
      form={(onDone, isNew) => <Form onDone={onDone} isNew={isNew} />}
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

function Form({ onDone, isNew }: { readonly onDone: () => void; readonly isNew: boolean }) {
  const [url, setUrl] = useState("");
  const [schema, setSchema] = useState("salesforce");
  const [takesOver, setTakesOver] = useState(false);
  const say = useSay();
  const connect = useAct<SetPostgresData, SetPostgresBody>((body) => ({
    method: "PUT",
    path: "/connections/postgres",
    body,
  }));
  const refused = connect.data && !connect.data.data.ok ? connect.data.data : null;
  const belongsElsewhere = connect.error instanceof Refused && connect.error.code === "CONFLICT";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    connect.mutate(
      { url: url.trim(), schema, ...(takesOver && { take_over: true }) },
      {
        onSuccess: ({ data }) => {
          if (!data.ok) return;
          say.done("The database is connected");
          onDone();
        },
      },
    );
  };
  return (
    <form className="form" onSubmit={submit}>
      <Field
        label="Database URL"
        value={url}
        onChange={({ target }) => setUrl(target.value)}
        required
        spellCheck={false}
        autoComplete="off"
        placeholder="postgres://user:password@host:5432/database?sslmode=verify-full"
        hint="It is kept encrypted and never shown again. The user needs CREATE on the database or on the schema, and nothing else."
        wrong={detailOf(connect.error, "url")}
      />
      <Field
        label="Schema"
        value={schema}
        onChange={({ target }) => setSchema(target.value)}
        required
        spellCheck={false}
        hint="It is created if it does not exist. A schema belongs to one workspace."
        wrong={detailOf(connect.error, "schema")}
      />
      {(belongsElsewhere || takesOver) && (
        <Check
          label="Take the schema over from the workspace that has it"
          hint="Only when that workspace is no longer used: its sync ends."
          checked={takesOver}
          onChange={({ target }) => setTakesOver(target.checked)}
        />
      )}
      {connect.error && <Trouble error={connect.error} title="The database was not connected." />}
      {refused && <Findings report={refused} />}
      <div className="acts">
        <Button kind="primary" type="submit" busy={connect.isPending}>
          Connect database
        </Button>
        {!isNew && (
          <Button kind="plain" onClick={onDone}>
            Cancel
          </Button>
        )}
      </div>
    </form>
  );
}
