import type { ImportConfigBody, ImportConfigData } from "bridge/api";
import { type ChangeEvent, useState } from "react";
import { Refused } from "../../api/ask.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAct } from "../../api/use.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Card } from "../../parts/page.tsx";
import { useSay } from "../../parts/toast.tsx";
import { Notice, Trouble } from "../../parts/trouble.tsx";
import { count, counted, duration } from "../../parts/words.ts";
import { go, hrefOf } from "../../route.ts";
import { ConfigurationFrame } from "./configuration-frame.tsx";

/** Brings a document in: first its plan, then the act. */
export function Import() {
  const [text, setText] = useState("");
  const [unreadable, setUnreadable] = useState<string | undefined>();
  const { refusal } = useScopes();
  const say = useSay();
  const plan = useAct<ImportConfigData, ImportConfigBody>((body) => ({
    method: "POST",
    path: "/config/import",
    query: { dry_run: true },
    body,
  }));
  const bring = useAct<ImportConfigData, ImportConfigBody>((body) => ({
    method: "POST",
    path: "/config/import",
    body,
  }));

  const change = (next: string) => {
    setText(next);
    setUnreadable(undefined);
    plan.reset();
    bring.reset();
  };
  const choose = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [file] = target.files ?? [];
    if (!file) return;
    const read = await file.text();
    change(read);
    if (refusal("admin") === null) withDocument((document) => plan.mutate(document), read);
  };
  const withDocument = (act: (document: ImportConfigBody) => void, read = text) => {
    try {
      act(JSON.parse(read) as ImportConfigBody);
    } catch (error) {
      setUnreadable(`This is no JSON: ${(error as Error).message}.`);
    }
  };
  const run = (document: ImportConfigBody) =>
    bring.mutate(document, {
      onSuccess: ({ data }) => {
        say.done("The configuration is imported", summed(data));
        go(hrefOf("/mappings"));
      },
    });

  return (
    <ConfigurationFrame>
      <Card title="Document">
        <div className="form">
          <label className="field">
            <span className="small muted">A file, exported here or from Heroku Connect; its plan is shown at once</span>
            <input type="file" accept=".json,application/json" onChange={(event) => void choose(event)} />
          </label>
          <TextField
            label="Or its text"
            value={text}
            onChange={({ target }) => change(target.value)}
            wrong={unreadable}
            rows={10}
            placeholder='{"version": 1, "mappings": [ … ]}'
          />
          <div className="acts">
            <Button
              kind={plan.data ? undefined : "primary"}
              busy={plan.isPending}
              refused={refusal("admin") ?? (text.trim() === "" ? "Choose a file or paste a document first." : null)}
              onClick={() => withDocument((document) => plan.mutate(document))}
            >
              Show the plan
            </Button>
            <span className="small muted">Nothing changes yet.</span>
          </div>
        </div>
      </Card>
      {plan.error && <Wrong error={plan.error} />}
      {(plan.data?.data.warnings ?? []).length > 0 && (
        <Notice tone="warn" title="Some of the document would be lost">
          <ul>
            {plan.data?.data.warnings?.map(({ path, message }) => (
              <li key={path}>
                <code>{path}</code> {message}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {plan.data?.data.calls && <Cost calls={plan.data.data.calls} />}
      {plan.data && (
        <Plan
          plan={plan.data.data}
          acts={
            <Button kind="primary" busy={bring.isPending} onClick={() => withDocument(run)}>
              Import
            </Button>
          }
        />
      )}
      {bring.error && <Wrong error={bring.error} />}
    </ConfigurationFrame>
  );
}

function Wrong({ error }: { readonly error: Error }) {
  const isOfDocument = error instanceof Refused && error.code === "VALIDATION_ERROR";
  return (
    <Trouble
      error={error}
      title={isOfDocument ? "The document can't be imported as it is. Nothing was changed." : "The import was refused."}
    />
  );
}

const summed = ({ created, updated, skipped }: ImportConfigData): string =>
  `${created} created, ${updated} updated, ${skipped} as they were.`;

/** What the import costs of the org's calls, and how far apart pulls would be. */
function Cost({ calls }: { readonly calls: NonNullable<ImportConfigData["calls"]> }) {
  const { calls_per_day: then, calls_per_day_now: now, calls_limit: limit, pace_seconds: pace } = calls;
  const isStretched = pace !== null && pace > 10;
  return (
    <Notice tone={then > now ? "warn" : "info"} title={`${count(then)} API calls a day, ${count(now)} now`}>
      While nothing changes{limit ? `; the org allows ${count(limit)}` : ""}.{" "}
      {pace !== null &&
        (isStretched
          ? `To keep to Bridge's share, pulls come at least ${duration(pace)} apart. `
          : "Pulls come as configured. ")}
      These calls count against the org's limit, as Heroku Connect's do not.
    </Notice>
  );
}

function Plan({ plan, acts }: { readonly plan: ImportConfigData; readonly acts: React.ReactNode }) {
  const changes = plan.changes ?? [];
  if (changes.length === 0)
    return (
      <Notice tone="good" title="Nothing would change">
        {counted(plan.skipped, "mapping")} of the document {plan.skipped === 1 ? "is" : "are"} here already, exactly so.
      </Notice>
    );
  return (
    <Card
      title="Plan"
      acts={acts}
      foot={<span>{summed(plan)} Mappings that the document does not name stay as they are.</span>}
    >
      <ul className="diff" aria-label="Plan">
        {changes.map((change) => (
          <li key={change.object_name}>
            <div className="head-line">
              <Badge tone={change.action === "create" ? "good" : "busy"}>{change.action}</Badge>
              <strong>{change.object_name}</strong>
              <span className="mono muted">{change.pg_table}</span>
            </div>
            <div className="lines mono">
              {change.fields_added.map((field) => (
                <span key={field} className="added">
                  + {field}
                </span>
              ))}
              {change.fields_removed.map((field) => (
                <span key={field} className="removed">
                  − {field}
                </span>
              ))}
              {change.settings.map(({ name, before, after }) => (
                <span key={name} className="changed">
                  ~ {name}: {before ?? "none"} → {after ?? "none"}
                </span>
              ))}
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
