import type { ListMappingStatesData, NudgeData, ReadRowStoryData, WriteRowBody, WriteRowData } from "bridge/api";
import { Send } from "lucide-react";
import { Suspense, useState } from "react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { Button } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { later } from "../../parts/later.ts";
import { Card } from "../../parts/page.tsx";
import { useSay } from "../../parts/toast.tsx";
import { hrefOf } from "../../route.ts";

const Follow = later(async () => (await import("../activity/correct.tsx")).Follow);

const HIDDEN = "bridge.try-it.hidden";

const isHere = (hostname: string): boolean => ["127.0.0.1", "localhost"].includes(hostname);

/** What to do first, in the demo workspace that `npm start` makes on this machine; hidden for good when asked to. */
export function TryIt({ mappings }: { readonly mappings: ListMappingStatesData }) {
  const { may } = useScopes();
  const [isHidden, setHidden] = useState(() => localStorage.getItem(HIDDEN) !== null);
  const { data: workspace } = useAnswer(questions.workspace, { when: isHere(location.hostname) && !isHidden });
  const isDemo = workspace?.data.name === "demo";
  const { data: connections } = useAnswer(questions.connections, { when: isDemo && may("admin") });
  const { postgres, salesforce } = connections?.data ?? {};
  if (isHidden || !isDemo || postgres?.host !== "127.0.0.1" || !salesforce) return null;
  const contact = mappings.find(({ sf_object }) => sf_object === "Contact");
  const isOwnOrg = isHere(new URL(salesforce.instance_url).hostname);
  const hide = () => {
    localStorage.setItem(HIDDEN, "yes");
    setHidden(true);
  };
  return (
    <Card
      title="Try it"
      acts={
        <Button compact onClick={hide}>
          Hide
        </Button>
      }
    >
      <div className="form">
        <p>What you write is on the other side within ten seconds.</p>
        {contact && isOwnOrg && <DoIt schema={postgres.schema} table={contact.pg_table} />}
        <details>
          <summary>Type it in a terminal, in the project's folder</summary>
          {linesFor(salesforce.instance_url).map(({ what, line }) => (
            <div key={what}>
              <h3>{what}</h3>
              <div className="secret">
                <code>{line}</code>
                <Copy text={line} name={what} />
              </div>
            </div>
          ))}
        </details>
      </div>
    </Card>
  );
}

/** The contact of the sample data that the text of `npm start` names, too. */
const SAMPLE = "demo-contact-2";

const titleIn = ({ values }: ReadRowStoryData) => values.find(({ column }) => column === "title");

/** Writes a sample row as an application would, and follows it to its record. */
function DoIt({ schema, table }: { readonly schema: string; readonly table: string }) {
  const { refusal } = useScopes();
  const say = useSay();
  // Asked again when it is written, and when Salesforce has answered.
  const { data } = useAnswer(questions.rowStory(table, SAMPLE));
  const story = data?.data;
  const id = story?.record_id ?? null;
  const nudge = useAct<NudgeData>(() => ({ method: "POST", path: "/nudge", query: { table } }));
  const write = useAct<WriteRowData, string>((title) => ({
    method: "PATCH",
    path: `/rows/${encodeURIComponent(table)}/${id}`,
    body: { values: { title } } satisfies WriteRowBody,
  }));
  if (story?.row !== "present" || id === null) return null;
  const { postgres = null, salesforce = null } = titleIn(story) ?? {};
  const title = postgres === "Countess" ? "Admiral" : "Countess";
  return (
    <div className="stack tight">
      <div className="acts">
        <Button
          kind="primary"
          icon={<Send size={14} aria-hidden />}
          busy={write.isPending}
          refused={refusal("operate")}
          onClick={() => write.mutate(title, { onSuccess: () => nudge.mutate(), onError: say.failed })}
        >
          Do it for me
        </Button>
        <code className="breaks">
          UPDATE {schema}.{table} SET title = '{title}' WHERE external_id__c = '{SAMPLE}'
        </code>
      </div>
      {write.data && (
        <>
          <Suspense>
            <Follow key={write.data.data.change_id} id={write.data.data.change_id} again={write.reset} />
          </Suspense>
          <p>
            PostgreSQL has <strong>{postgres}</strong>, Salesforce has <strong>{salesforce}</strong>.{" "}
            <a href={hrefOf(`/rows/${table}`, { key: String(id) })}>All that happened to this row</a>
          </p>
        </>
      )}
    </div>
  );
}

/** A value of the file that `npm start` keeps for scripts, so that no password is on the page. */
const kept = (path: string): string => `$(node -p "require('./.bridge/instance.json').${path}")`;

const linesFor = (org: string) => [
  {
    what: "Write a row with psql",
    line: `psql "${kept("database_url")}" -c "INSERT INTO salesforce.contact (firstname, lastname, email) VALUES ('Ada', 'Lovelace', 'ada@example.com')"`,
  },
  { what: "See its result", line: "npx bridge activity --follow" },
  {
    what: "Change a record in Salesforce",
    line: `curl -X PATCH ${org}/services/data/v68.0/sobjects/Contact/External_Id__c/demo-contact-2 -H "Authorization: Bearer ${kept("salesforce.access_token")}" -H "Content-Type: application/json" -d '{"LastName":"Hopper","Title":"Admiral"}'`,
  },
  { what: "End the writer that changes sample rows, which ends after an hour", line: "npx bridge demo stop" },
];
