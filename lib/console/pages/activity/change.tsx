import type { ReadChangeData, RetryRowsData } from "bridge/api";
import { RotateCw } from "lucide-react";
import { questions } from "../../api/questions.ts";
import { useScopes } from "../../api/scopes.ts";
import { useAct, useAnswer } from "../../api/use.ts";
import { ActButton } from "../../parts/acts/act-button.tsx";
import { List } from "../../parts/list.tsx";
import { Bones, Card, Page } from "../../parts/page.tsx";
import { RowState } from "../../parts/row-state.tsx";
import { Ago } from "../../parts/time.tsx";
import { Needs } from "../../parts/too-small.tsx";
import { Notice, Trouble } from "../../parts/trouble.tsx";
import { counted, duration, sentence } from "../../parts/words.ts";
import { hrefOf } from "../../route.ts";
import { explain, retryHelps } from "./explain.ts";
import { retried } from "./failed-rows.tsx";

/** One row's story: what it was, what it became, what Salesforce said, how often it was tried. */
export function ChangePage({ id }: { readonly id: string }) {
  const { may } = useScopes();
  const { data, error, refetch } = useAnswer(questions.change(id), { everySeconds: 3, when: may("operate") });
  const change = data?.data;
  return (
    <Page
      title={
        change
          ? `${sentence(change.action.toLowerCase())} of ${change.table_name} ${change.record_id}`
          : `Change #${id}`
      }
      beside={change && <RowState state={change.state} />}
      says={
        <>
          Change #{id} of the <a href={hrefOf("/activity")}>trigger log</a>
        </>
      }
      acts={change?.state === "FAILED" && !change.superseded && <Acts change={change} />}
    >
      <Needs scope="operate" what="Values of rows">
        {error && !change && <Trouble error={error} again={() => void refetch()} />}
        {!change && !error && (
          <Card padded={false}>
            <Bones lines={8} />
          </Card>
        )}
        {change && <Story change={change} />}
      </Needs>
    </Page>
  );
}

/** A refused value is corrected; trying the same again comes second where that cannot help. */
function Acts({ change: { id, table_name, record_id, action, _ab_err } }: { readonly change: ReadChangeData }) {
  const isCorrected = action !== "DELETE" && !retryHelps(_ab_err);
  return (
    <>
      {isCorrected && (
        <a className="button primary" href={hrefOf(`/rows/${table_name}`, { key: String(record_id) })}>
          Correct the row
        </a>
      )}
      <RetryChange id={id} isFirst={!isCorrected} />
    </>
  );
}

/** Sends a change again as it is. */
export function RetryChange({ id, isFirst }: { readonly id: number; readonly isFirst: boolean }) {
  const retry = useAct<RetryRowsData>(() => ({ method: "POST", path: `/monitoring/errors/${id}/retry` }));
  return (
    <ActButton
      act={retry}
      scope="operate"
      done={retried}
      kind={isFirst ? "primary" : undefined}
      icon={<RotateCw size={15} aria-hidden />}
    >
      Retry
    </ActButton>
  );
}

function Story({ change }: { readonly change: ReadChangeData }) {
  const remedy = explain(change._ab_err);
  return (
    <>
      {change._ab_err && (
        <Notice
          tone={change.state === "FAILED" ? "bad" : "info"}
          title={<span className="mono">{change._ab_err}</span>}
        >
          {change.superseded && <p>A newer change of the row replaces this one: there is nothing to do.</p>}
          {!change.superseded && remedy && <p>{remedy}</p>}
        </Notice>
      )}
      {change.held && (
        <Notice tone="warn" title="This delete is on hold.">
          More deletes came within an hour than the limit allows. Release or reject this one on the mapping's page.
        </Notice>
      )}
      <div className="split">
        <Values change={change} />
        <Card title="What happened">
          <ol className="story">
            <li>
              <strong>Captured</strong> <Ago at={change.created_at} />
            </li>
            {change.sent_at && (
              <li>
                <strong>Sent</strong> <Ago at={change.sent_at} />
                {change.attempts > 0 && <span className="muted">, tried again {counted(change.attempts, "time")}</span>}
              </li>
            )}
            {change.due_at && !change.synced_at && (
              <li>
                <strong>Tried again</strong> <Ago at={change.due_at} />
              </li>
            )}
            {change.synced_at ? (
              <li>
                <strong>{change.state === "FAILED" ? "Rejected" : "Accepted"}</strong> <Ago at={change.synced_at} />
                <span className="muted">
                  , {duration((Date.parse(change.synced_at) - Date.parse(change.created_at)) / 1000)} after the capture
                </span>
              </li>
            ) : (
              <li className="muted">{WAITS[change.state]}</li>
            )}
          </ol>
          <dl className="facts">
            <dt>Record</dt>
            <dd className="mono">{change.sfid ?? "none yet"}</dd>
            <dt>Row</dt>
            <dd className="mono">
              <a href={hrefOf(`/rows/${change.table_name}`, { key: String(change.record_id) })}>
                {change.table_name}.id = {change.record_id}
              </a>
            </dd>
          </dl>
        </Card>
      </div>
    </>
  );
}

const WAITS: Record<ReadChangeData["state"], string> = {
  NEW: "Waits for the next cycle",
  PENDING: "Is being sent",
  SUCCESS: "Accepted",
  FAILED: "Refused by Salesforce",
};

function Values({ change: { old, values, action } }: { readonly change: ReadChangeData }) {
  const columns = [...new Set([...Object.keys(old ?? {}), ...Object.keys(values ?? {})])].toSorted();
  return (
    <Card
      title={action === "UPDATE" ? "What changed" : action === "INSERT" ? "What was inserted" : "What was deleted"}
      padded={false}
    >
      <List
        caption="Columns with their old and new values"
        head={["Column", ...(old ? ["Old"] : []), ...(values ? ["New"] : [])]}
      >
        {columns.map((column) => (
          <tr key={column}>
            <td className="mono">{column}</td>
            {old && <Value value={old[column]} />}
            {values && <Value value={values[column]} />}
          </tr>
        ))}
      </List>
    </Card>
  );
}

function Value({ value }: { readonly value: string | null | undefined }) {
  if (value === undefined) return <td className="muted">–</td>;
  if (value === null) return <td className="muted mono">NULL</td>;
  return <td className="breaks">{value}</td>;
}
