import type { ReadRowStoryData } from "bridge/api";
import { ExternalLink } from "lucide-react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAnswer } from "../../api/use.ts";
import { Badge } from "../../parts/badge.tsx";
import { Copy } from "../../parts/copy.tsx";
import { List } from "../../parts/list.tsx";
import { Bones, Card, Empty, Page } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { Needs } from "../../parts/too-small.tsx";
import { Notice, Trouble } from "../../parts/trouble.tsx";
import { sentence } from "../../parts/words.ts";
import { hrefOf, usePlace } from "../../route.ts";
import { explain } from "./explain.ts";

/** Everything that happened to one row on both sides, and what each holds now; the key is in the address. */
export function RowPage({ id: table }: { readonly id: string }) {
  const { may } = useScopes();
  const key = usePlace().query.get("key") ?? "";
  const { data, error, refetch } = useAnswer(questions.rowStory(table, key), {
    everySeconds: 15,
    when: may("operate") && key !== "",
  });
  const story = data?.data;
  return (
    <Page
      title={story ? `${story.table_name} ${story.record_id ?? story.sfid}` : `Row ${key}`}
      beside={story && <Sameness story={story} />}
      says={story && `A row of ${story.sf_object}${story.sfid ? `, record ${story.sfid}` : ", without a record yet"}`}
      acts={
        story?.salesforce_url && (
          <a className="button" href={story.salesforce_url} target="_blank" rel="noreferrer">
            <ExternalLink size={15} aria-hidden />
            Open in Salesforce
          </a>
        )
      }
    >
      <Needs scope="operate" what="Values of rows">
        {error && !story && <Trouble error={error} again={() => void refetch()} />}
        {!story && !error && (
          <Card padded={false}>
            <Bones lines={8} />
          </Card>
        )}
        {story && <Story story={story} />}
      </Needs>
    </Page>
  );
}

/** Whether both sides hold the same now. */
function Sameness({ story: { values, row, record } }: { readonly story: ReadRowStoryData }) {
  const differing = values.filter(({ equal }) => equal === false).length;
  if (row === "absent") return <Badge tone="warn">no row</Badge>;
  if (record !== "present") return <Badge tone={record === "unknown" ? "quiet" : "warn"}>record {record}</Badge>;
  return (
    <Badge tone={differing === 0 ? "good" : "warn"}>
      {differing === 0 ? "both sides equal" : `${differing} differ`}
    </Badge>
  );
}

function Story({ story }: { readonly story: ReadRowStoryData }) {
  const isUnsent = story.remedy?.startsWith("bridge ") === true;
  const failed = story.remedy && story.events.find(({ kind, state }) => kind === "attempt" && state === "FAILED");
  return (
    <>
      {story.remedy && (
        <Notice
          tone={isUnsent ? "warn" : "bad"}
          title={
            isUnsent
              ? "The row has no record: its changes are on hold."
              : "Salesforce refuses the last change of this row."
          }
          acts={<Copy text={story.remedy} name={isUnsent ? "command" : "UPDATE"} />}
        >
          {failed && <p>{explain(failed.text.replace(/^[^:]*: /, "")) ?? sentence(failed.text)}</p>}
          <code className="breaks">{story.remedy}</code>
        </Notice>
      )}
      {story.waits && <Notice tone="warn" title={story.waits} />}
      {story.salesforce_error && (
        <Notice tone="warn" title="Salesforce could not be asked">
          {sentence(story.salesforce_error)}
        </Notice>
      )}
      <div className="split">
        <Card title="What happened" padded={false}>
          <Events events={story.events} />
        </Card>
        <Card
          title="Both sides now"
          padded={false}
          foot={
            story.last_modified_at && (
              <span className="small muted">
                Changed in Salesforce by {story.last_modified_by}, <Time at={story.last_modified_at} />
              </span>
            )
          }
        >
          <Values values={story.values} />
        </Card>
      </div>
    </>
  );
}

const SIDES = { postgres: "PostgreSQL", salesforce: "Salesforce", bridge: "Bridge" } as const;

function Events({ events }: { readonly events: ReadRowStoryData["events"] }) {
  if (events.length === 0)
    return (
      <Empty title="No history">It came with the first load, or what happened to it is older than what is kept.</Empty>
    );
  return (
    <List caption="What happened to the row, the latest first" head={["When", "What"]}>
      {events.map((event, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two attempts may be equal in everything else
        <tr key={`${event.at} ${event.kind} ${event.change_id} ${at}`}>
          <td className="once">
            <Time at={event.at} />
            <span className="sub">
              {SIDES[event.from]}
              {event.by && `, ${event.by}`}
            </span>
          </td>
          <td className="breaks">
            {event.change_id ? (
              <a className="row-link" href={hrefOf(`/activity/${event.change_id}`)}>
                {sentence(event.text)}
              </a>
            ) : (
              sentence(event.text)
            )}{" "}
            {event.state === "FAILED" && event.kind === "attempt" && <Badge tone="bad">refused</Badge>}
            {event.kind !== "conflict" &&
              event.fields.slice(0, 20).map(({ column, before, after }) => (
                <span key={column} className="sub">
                  <span className="mono">{column}</span> {shown(before)} → {shown(after)}
                </span>
              ))}
          </td>
        </tr>
      ))}
    </List>
  );
}

const shown = (value: string | null): string =>
  value === null ? "NULL" : value.length > 80 ? `${value.slice(0, 80)}…` : value;

function Values({ values }: { readonly values: ReadRowStoryData["values"] }) {
  return (
    <List caption="What both sides hold now" head={["Column", "PostgreSQL", "Salesforce"]}>
      {values.map(({ column, postgres, salesforce, equal }) => (
        <tr key={column}>
          <td className="mono breaks">
            {column} {equal === false && <Badge tone="warn">differs</Badge>}
          </td>
          <td className="breaks">{postgres ?? <span className="muted mono">NULL</span>}</td>
          <td className="breaks">{salesforce ?? <span className="muted mono">NULL</span>}</td>
        </tr>
      ))}
    </List>
  );
}
