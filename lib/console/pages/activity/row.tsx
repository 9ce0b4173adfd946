import type { PollNowData, ReadRowStoryData, RestoreRowData } from "bridge/api";
import { ExternalLink, Undo2 } from "lucide-react";
import { useState } from "react";
import type { Question } from "../../api/ask.ts";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { ActButton } from "../../parts/acts/act-button.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Copy } from "../../parts/copy.tsx";
import { List } from "../../parts/list.tsx";
import { Bones, Card, Empty, Page } from "../../parts/page.tsx";
import { Ago, Time } from "../../parts/time.tsx";
import { Needs } from "../../parts/too-small.tsx";
import { Notice, Trouble } from "../../parts/trouble.tsx";
import { sentence } from "../../parts/words.ts";
import { hrefOf, usePlace } from "../../route.ts";
import { RetryChange } from "./change.tsx";
import { Correct, Follow } from "./correct.tsx";
import { explain, retryHelps } from "./explain.ts";

/** Everything that happened to one row on both sides, and what each holds now; the key is in the address. */
export function RowPage({ id: table }: { readonly id: string }) {
  const { may } = useScopes();
  const key = usePlace().query.get("key") ?? "";
  const asked = questions.rowStory(table, key);
  const { data, error, refetch } = useAnswer(asked, {
    everySeconds: 15,
    when: may("operate") && key !== "",
  });
  const story = data?.data;
  return (
    <Page
      title={story ? `${story.table_name} ${story.record_id ?? story.sfid}` : `Row ${key}`}
      beside={story && <Sameness story={story} />}
      says={story && `${story.sf_object}${story.sfid ? ` ${story.sfid}` : ", not in Salesforce yet"}`}
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
        {story && <Story story={story} asked={asked} />}
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

function Story({ story, asked }: { readonly story: ReadRowStoryData; readonly asked: Question<ReadRowStoryData> }) {
  const [saved, setSaved] = useState<number | null>(null);
  return (
    <>
      {story.remedy && (
        <Notice
          tone="warn"
          title="The row has no Salesforce record, so its changes are on hold."
          acts={<Copy text={story.remedy} name="command" />}
        >
          <code className="breaks">{story.remedy}</code>
        </Notice>
      )}
      {story.waits && <Notice tone="warn" title={story.waits} />}
      {story.restore && <Deleted story={story} restore={story.restore} asked={asked} />}
      {saved !== null && (
        <Card title="The correction">
          <Follow id={saved} again={() => setSaved(null)} />
        </Card>
      )}
      {saved === null && story.refused && (
        <Refusal key={story.refused.change_id} story={story} refused={story.refused} onSaved={setSaved} />
      )}
      {story.salesforce_error && (
        <Notice tone="warn" title="Salesforce could not be asked">
          {sentence(story.salesforce_error)}
        </Notice>
      )}
      <div className="split">
        <Card title="History" padded={false}>
          <Events events={story.events} />
        </Card>
        <Card
          title="Both sides now"
          padded={false}
          foot={
            story.last_modified_at && (
              <span className="small muted">
                Last changed in Salesforce by {story.last_modified_by}, <Ago at={story.last_modified_at} />
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

/** Who deleted the row or its record, until when it can come back, and the button that brings it back. */
function Deleted({
  story,
  restore,
  asked,
}: {
  readonly story: ReadRowStoryData;
  readonly asked: Question<ReadRowStoryData>;
  readonly restore: NonNullable<ReadRowStoryData["restore"]>;
}) {
  const key = story.sfid ?? String(story.record_id);
  const poll = useAct<PollNowData>(() => ({ method: "POST", path: `/mappings/${story.mapping_id}/poll-now` }));
  const act = useAct<RestoreRowData>(() => ({
    method: "POST",
    path: `/rows/${encodeURIComponent(story.table_name)}/${encodeURIComponent(key)}/restore`,
  }));
  // What was asked for comes within a cycle.
  useAnswer(asked, { everySeconds: act.data ? 3 : 15 });
  return (
    <Notice
      tone="warn"
      title={
        <>
          Deleted in {SIDES[restore.deleted_in]}
          {restore.deleted_by && ` by ${restore.deleted_by}`}
          {restore.deleted_at && (
            <>
              , <Ago at={restore.deleted_at} />
            </>
          )}
        </>
      }
      acts={
        <ActButton
          act={act}
          scope="operate"
          done={({ restored }) => {
            if (restored === "by_next_cycle") poll.mutate();
            return restored === "now"
              ? ["The row is back", "The deletion is not sent."]
              : ["It is being restored", "The next cycle takes the record out of the recycle bin."];
          }}
          kind="primary"
          icon={<Undo2 size={15} aria-hidden />}
          refused={restore.why && sentence(restore.why)}
        >
          Restore
        </ActButton>
      }
    >
      {restore.until && (
        <p>
          Salesforce's recycle bin keeps the record until <Time at={restore.until} />.
        </p>
      )}
      {restore.why && <p>{sentence(restore.why)}</p>}
    </Notice>
  );
}

/** What Salesforce refused, in a field to correct it; trying the same again comes second. */
function Refusal({
  story,
  refused,
  onSaved,
}: {
  readonly onSaved: (changeId: number) => void;
  readonly story: ReadRowStoryData;
  readonly refused: NonNullable<ReadRowStoryData["refused"]>;
}) {
  const { table_name, record_id, values } = story;
  const retry = <RetryChange id={refused.change_id} isFirst={retryHelps(refused.message)} />;
  return (
    <Card title="Salesforce refuses the last change of this row" acts={refused.columns.length === 0 && retry}>
      <div className="stack tight">
        <p className="breaks mono small">{refused.message}</p>
        {explain(refused.message) && <p>{explain(refused.message)}</p>}
        {record_id !== null && refused.columns.length > 0 && (
          <Correct
            table={table_name}
            recordId={record_id}
            columns={refused.columns}
            shown={Object.fromEntries(values.map(({ column, postgres }) => [column, postgres]))}
            behind={retry}
            onSaved={onSaved}
          />
        )}
      </div>
    </Card>
  );
}

const SIDES = { postgres: "PostgreSQL", salesforce: "Salesforce", bridge: "Bridge" } as const;

function Events({ events }: { readonly events: ReadRowStoryData["events"] }) {
  if (events.length === 0)
    return (
      <Empty title="No history">
        The row came with the first load, or its history is older than the retention period.
      </Empty>
    );
  return (
    <List caption="What happened to the row, the latest first" head={["When", "What"]}>
      {events.map((event, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two attempts may be equal in everything else
        <tr key={`${event.at} ${event.kind} ${event.change_id} ${at}`}>
          <td className="once">
            <Ago at={event.at} />
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
