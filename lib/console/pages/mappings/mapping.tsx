import type { ReadMappingData } from "bridge/api";
import { Pause, Pencil, Play, RefreshCw, Rows3 } from "lucide-react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { ActButton } from "../../parts/acts/act-button.tsx";
import { Button } from "../../parts/button.tsx";
import { List } from "../../parts/list.tsx";
import { DIRECTIONS, MappingState, POLICIES } from "../../parts/mapping-state.tsx";
import { Bones, Card, Empty, Page } from "../../parts/page.tsx";
import { RowState } from "../../parts/row-state.tsx";
import { Ago, Time } from "../../parts/time.tsx";
import { Notice, Trouble } from "../../parts/trouble.tsx";
import { count, counted, duration } from "../../parts/words.ts";
import { go, hrefOf } from "../../route.ts";
import { CycleStrip } from "../overview/cycle-strip.tsx";
import { Moved } from "../overview/moved.tsx";
import { Compared } from "./compared.tsx";
import { DeletesOnHold } from "./deletes-on-hold.tsx";
import { DryRun } from "./dry-run.tsx";
import { MoreActs } from "./more-acts.tsx";
import { Restored } from "./restored.tsx";

/** One mapping: what it does, how far it is, and everything that can be done with it. */
export function MappingPage({ id }: { readonly id: string }) {
  const { data, error, refetch } = useAnswer(questions.mapping(id), { everySeconds: 3 });
  const mapping = data?.data;
  return (
    <Page
      title={mapping?.sf_object ?? "Mapping"}
      beside={mapping && <MappingState mapping={mapping} />}
      says={mapping && <Says mapping={mapping} />}
      acts={mapping && <Acts mapping={mapping} />}
    >
      {error && !mapping && <Trouble error={error} again={() => void refetch()} />}
      {!mapping && !error && (
        <Card padded={false}>
          <Bones lines={8} />
        </Card>
      )}
      {mapping && <Body mapping={mapping} />}
    </Page>
  );
}

function Says({ mapping }: { readonly mapping: ReadMappingData }) {
  return (
    <>
      Table <code>{mapping.pg_table}</code>, {DIRECTIONS[mapping.sync_direction]}
    </>
  );
}

function Acts({ mapping }: { readonly mapping: ReadMappingData }) {
  const { refusal } = useScopes();
  const path = `/mappings/${mapping.id}`;
  const poll = useAct<{ triggered: boolean; message: string }>(() => ({ method: "POST", path: `${path}/poll-now` }));
  const turn = useAct<unknown>(() => ({
    method: "POST",
    path: `${path}/${mapping.active ? "deactivate" : "activate"}`,
  }));
  const isDeleted = mapping.state === "deleted";
  return (
    <>
      <ActButton
        act={poll}
        scope="operate"
        done={({ triggered, message }) => [triggered ? "A cycle was started" : "No cycle was started", message]}
        icon={<RefreshCw size={15} aria-hidden />}
        refused={mapping.state === "paused" ? (mapping.reason ?? "It is paused.") : null}
      >
        Poll now
      </ActButton>
      <ActButton
        act={turn}
        scope="admin"
        done={() =>
          mapping.active
            ? ["Paused", "Changed rows are still captured, and sent once you activate the mapping."]
            : ["Active again"]
        }
        icon={mapping.active ? <Pause size={15} aria-hidden /> : <Play size={15} aria-hidden />}
        refused={isDeleted ? "It is deleted." : null}
      >
        {mapping.active ? "Pause" : "Activate"}
      </ActButton>
      <a className="button" href={hrefOf(`${path}/rows`)}>
        <Rows3 size={15} aria-hidden />
        Rows
      </a>
      <Button
        icon={<Pencil size={15} aria-hidden />}
        refused={refusal("admin")}
        onClick={() => go(hrefOf(`${path}/edit`))}
      >
        Change
      </Button>
      <MoreActs mapping={mapping} />
    </>
  );
}

/** What a reason explains, by the mapping's state. */
const REASON_TITLES: Partial<Record<ReadMappingData["state"], string>> = {
  broken: "Sync has stopped",
  paused: "Paused",
  loading: "First load",
  provisioning: "Setting up",
  provisioning_failed: "The set-up failed",
  migration_pending: "A migration is needed",
  sparing_calls: "Saving API calls",
  unknown: "State unknown",
};

function Body({ mapping }: { readonly mapping: ReadMappingData }) {
  return (
    <>
      {mapping.reason && mapping.state !== "deletes_held" && (
        <Notice
          tone={mapping.state === "paused" || mapping.state === "loading" ? "info" : "bad"}
          title={REASON_TITLES[mapping.state] ?? "Not syncing"}
        >
          <p>{mapping.reason}</p>
          {mapping.broken_since && (
            <p className="small">
              Since <Time at={mapping.broken_since} />. Bridge retries automatically and continues once the cause is
              fixed.
            </p>
          )}
        </Notice>
      )}
      {mapping.notices.map(({ message, remedy }) => (
        <Notice key={message} tone="info" title={message}>
          <p>{remedy}</p>
        </Notice>
      ))}
      {(mapping.failure === "database_rewound" || mapping.failure === "config_behind") && (
        <Restored mapping={mapping} />
      )}
      {Boolean(mapping.held_deletes) && <DeletesOnHold mapping={mapping} />}
      {mapping.last_pull_at === null && mapping.sync_direction !== "pg_to_sf" && mapping.deleted_at === null && (
        <DryRun mapping={mapping} />
      )}
      {mapping.progress && <Reading progress={mapping.progress} />}
      <Figures mapping={mapping} />
      <Moved of={mapping.sf_object} />
      <div className="split">
        <Latest table={mapping.pg_table} />
        <Cycles mapping={mapping} />
      </div>
      <div className="split">
        <Fields mapping={mapping} />
        <Card title="Settings">
          <dl className="facts">
            <dt>Pull interval</dt>
            <dd>{mapping.sync_direction === "pg_to_sf" ? "none: sends only" : duration(mapping.sf_polling_seconds)}</dd>
            {mapping.sf_notify_enabled && mapping.sync_direction !== "pg_to_sf" && <Doorbell id={mapping.id} />}
            <dt>Upsert field</dt>
            <dd>{mapping.upsert_field ?? "none"}</dd>
            <dt>On conflict</dt>
            <dd>{POLICIES[mapping.conflict_policy]}</dd>
            <dt>Delete limit per hour</dt>
            <dd>{mapping.delete_limit}</dd>
            <dt>Compared automatically</dt>
            <dd>
              {mapping.sync_direction === "pg_to_sf"
                ? "never"
                : mapping.sweep_days === 1
                  ? "every day"
                  : `every ${counted(mapping.sweep_days, "day")}`}
            </dd>
            <dt>Most records per call</dt>
            <dd>{mapping.batch_size}</dd>
            <dt>Filter</dt>
            <dd>{mapping.filter ? <code>{mapping.filter}</code> : "none: every record"}</dd>
            <dt>API calls per day</dt>
            <dd>{count(mapping.calls_per_day)} while nothing changes</dd>
            <dt>API calls so far</dt>
            <dd>
              {Object.entries(mapping.api_calls)
                .map(([api, calls]) => `${api} ${count(calls)}`)
                .join(", ") || "none"}
            </dd>
            <dt>Created</dt>
            <dd>
              <Ago at={mapping.created_at} />
            </dd>
            <dt>Updated</dt>
            <dd>
              <Ago at={mapping.updated_at} />
            </dd>
            <dt>Id</dt>
            <dd className="mono">{mapping.id}</dd>
          </dl>
        </Card>
      </div>
    </>
  );
}

/** Each field with its column and the column's type, as the table has it. */
function Fields({ mapping }: { readonly mapping: ReadMappingData }) {
  const { data } = useAnswer(questions.rows(mapping.id, { limit: 1 }));
  const typed = new Map(data?.data.columns.map((column) => [column.field.toLowerCase(), column]));
  return (
    <Card title="Fields" padded={false}>
      <ul className="names">
        {mapping.fields.map((field) => {
          const found = typed.get(field.toLowerCase());
          return (
            <li key={field} className="mono">
              {field}
              {found && (
                <span className="muted">
                  → {found.column} {found.type.replace("character varying", "varchar")}
                </span>
              )}
              {field === mapping.upsert_field && <span className="tag">upsert field</span>}
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

/** The latest changes of its rows. */
function Latest({ table }: { readonly table: string }) {
  const { data } = useAnswer(questions.activity({ table, limit: LATEST }), { everySeconds: 5 });
  return (
    <Card title="Latest changes" padded={false} foot={<a href={hrefOf("/activity", { table })}>All changes</a>}>
      {data?.data.length === 0 && <Empty title="No changes yet">A changed row appears here at once.</Empty>}
      {data && data.data.length > 0 && (
        <List caption="The latest changes" head={["Change", "State", "Captured"]}>
          {data.data.map(({ id, action, sfid, state, created_at }) => (
            <tr key={id}>
              <td className="breaks">
                <a className="row-link" href={hrefOf(`/activity/${id}`)}>
                  {action.toLowerCase()} <span className="muted figure">#{id}</span>
                </a>
                {sfid && <span className="sub mono">{sfid}</span>}
              </td>
              <td>
                <RowState state={state} />
              </td>
              <td className="once">
                <Ago at={created_at} />
              </td>
            </tr>
          ))}
        </List>
      )}
    </Card>
  );
}

const LATEST = 8;

/** Cycles of the last minutes with what they read and sent, and when the next one reads. */
function Cycles({ mapping }: { readonly mapping: ReadMappingData }) {
  const { data } = useAnswer(questions.throughput(60), { everySeconds: 15 });
  const steps = data?.data.mappings.find(({ mapping_id }) => mapping_id === mapping.id)?.steps ?? [];
  const reads = mapping.active && mapping.sync_direction !== "pg_to_sf" && mapping.last_pull_at;
  const next = reads && new Date(Date.parse(reads) + mapping.sf_polling_seconds * 1000).toISOString();
  return (
    <Card
      title="Cycles"
      padded={false}
      foot={
        <span className="small muted">
          {next && (
            <>
              Next pull <Ago at={next} />, or later while Bridge saves API calls.{" "}
            </>
          )}
          {mapping.active ? "Changed rows are sent within ten seconds." : "The mapping is paused: no cycle runs."}
        </span>
      }
    >
      <div className="card-body">{data && <CycleStrip throughput={data.data} steps={steps} />}</div>
      <List
        caption="The last minutes with cycles"
        head={["Minute", ["Read", "number"], ["Sent", "number"], ["Refused", "wide number"]]}
      >
        {steps
          .toReversed()
          .slice(0, LATEST)
          .map(({ at, pulled, accepted, refused }) => (
            <tr key={at}>
              <td className="once">
                <Ago at={at} />
              </td>
              <td className="number">{count(pulled)}</td>
              <td className="number">{count(accepted)}</td>
              <td className="wide number">{count(refused)}</td>
            </tr>
          ))}
      </List>
    </Card>
  );
}

function CompareNow({ mapping }: { readonly mapping: ReadMappingData }) {
  const compare = useAct(() => ({ method: "POST", path: `/mappings/${mapping.id}/compare` }));
  const isOff = !mapping.active || mapping.sync_direction === "pg_to_sf";
  return (
    <ActButton
      act={compare}
      scope="operate"
      done={() => ["Comparing both sides", "The result appears here. Differences are corrected."]}
      compact
      refused={isOff ? "The mapping does not read from Salesforce now." : null}
    >
      Compare now
    </ActButton>
  );
}

const READING = {
  load: "First load",
  backfill: "Reading every record again",
  sweep: "Comparing both sides",
  backlog: "Reading many changes with the Bulk API",
} as const;

function Reading({ progress }: { readonly progress: NonNullable<ReadMappingData["progress"]> }) {
  return (
    <Notice title={READING[progress.reading]}>
      <p>
        {counted(progress.rows_done, "record")}
        {progress.rows_total === null ? " so far" : ` of ${count(progress.rows_total)}`}
        {progress.ends_at !== null && (
          <>
            , done <Ago at={progress.ends_at} />
          </>
        )}
        . Rows that you change in the meantime are captured and sent.
      </p>
      {progress.rows_total !== null && (
        <progress max={progress.rows_total} value={progress.rows_done} aria-label="Records read" />
      )}
    </Notice>
  );
}

/** Whether Salesforce's change notifications arrive; the command line says what to do about it. */
function Doorbell({ id }: { readonly id: string }) {
  const { data } = useAnswer(questions.doorbell, { everySeconds: 10 });
  const bell = data?.data.mappings.find(({ mapping_id }) => mapping_id === id);
  return (
    <>
      <dt>Doorbell</dt>
      <dd>
        {bell?.state ?? "…"}
        {bell?.since && (
          <>
            {" "}
            since <Time at={bell.since} />
          </>
        )}
        {bell && bell.state !== "alive" && (
          <span className="small muted"> (run bridge doorbell to see what to do)</span>
        )}
      </dd>
    </>
  );
}

function Figures({ mapping }: { readonly mapping: ReadMappingData }) {
  const { pg_table: table } = mapping;
  return (
    <dl className="figures">
      <Figure name="Both sides" isBroad>
        <Compared compared={mapping.compared} /> <CompareNow mapping={mapping} />
      </Figure>
      <Figure name="Last cycle">
        <Ago at={mapping.last_run_at} />
      </Figure>
      <Figure name="Last read">
        <Ago at={mapping.last_pull_at} />
      </Figure>
      <Figure name="Waiting">{shown(mapping.waiting)}</Figure>
      <Figure name="Failed">
        {mapping.failed ? (
          <a href={hrefOf("/activity/failed", { table })}>{count(mapping.failed)}</a>
        ) : (
          shown(mapping.failed)
        )}
      </Figure>
      <Figure name="Sent">{shown(mapping.rows_synced)}</Figure>
      <Figure name="Lag p50 / p95">
        {mapping.lag_seconds ? `${duration(mapping.lag_seconds.p50)} / ${duration(mapping.lag_seconds.p95)}` : "–"}
      </Figure>
    </dl>
  );
}

const shown = (figure: number | null): string => (figure === null ? "–" : count(figure));

function Figure({
  name,
  isBroad,
  children,
}: {
  readonly name: string;
  readonly isBroad?: boolean;
  readonly children: React.ReactNode;
}) {
  return (
    <div className={isBroad ? "broad" : undefined}>
      <dt>{name}</dt>
      <dd className="figure">{children}</dd>
    </div>
  );
}
